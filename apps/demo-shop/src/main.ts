import { systemRandomness } from "@vestibule/kernel/randomness.system";
import { runService } from "@vestibule/service/run-service.system";
import { VARIABLES } from "./config.ts";
import { startShop } from "./service.ts";

await runService("demo-shop", VARIABLES, (config, log) =>
  startShop(config, { randomness: systemRandomness, log }),
);

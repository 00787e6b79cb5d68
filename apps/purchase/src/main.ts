import { systemClock } from "@vestibule/kernel/clock.system";
import { systemRandomness } from "@vestibule/kernel/randomness.system";
import { runService } from "@vestibule/service/run-service.system";
import { crossCheck, VARIABLES } from "./config.ts";
import { startPurchase } from "./service.ts";

await runService(
  "purchase",
  VARIABLES,
  (config, log) => startPurchase(config, { clock: systemClock, randomness: systemRandomness, log }),
  crossCheck,
);

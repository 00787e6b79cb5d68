import { start } from "./start.system.ts";

process.exit(await start());

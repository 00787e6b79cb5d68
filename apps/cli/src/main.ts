import { start } from "./cli.system.ts";

process.exitCode = await start();

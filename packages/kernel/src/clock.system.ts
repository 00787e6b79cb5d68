import type { Clock } from "./clock.ts";
import { epochMs } from "./units.ts";

/** The machine's clock: the only place of the pure packages that reads it. */
export const systemClock: Clock = { now: () => epochMs(Date.now()) };

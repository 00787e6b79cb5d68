/** The clocks that this mint watches, its locations' and its own: made of its parts, for `service.ts`. */
import type { Clock } from "@vestibule/kernel/clock";
import type { Randomness } from "@vestibule/kernel/randomness";
import { SKEW_SECONDS_DEFAULT } from "@vestibule/contracts/limits";
import { epochMs } from "@vestibule/kernel/units";
import type { Log } from "@vestibule/service/log";
import { createMemoryTokenBucket } from "@vestibule/valkey/memory-token-bucket";
import {
  CLOCK_BUCKETS_MAX,
  CLOCK_LOG_SENDER_LIMIT,
  CLOCK_LOG_TOTAL_LIMIT,
  CLOCK_SENDER_LIMIT,
  CLOCK_SIGNINGS_MAX,
  CLOCK_TOTAL_LIMIT,
  EDGE_ALARM_CALM_MS,
  EDGE_ROWS_MAX,
  EDGE_ROWS_PER_SENDER_MAX,
  EDGE_SILENT_MS,
  SENDER_KEY_BYTES,
} from "../limits.ts";
import type { Timers } from "../timers.ts";
import type { Tokens } from "../tokens.ts";
import { ClockDesk } from "./clock-desk.ts";
import { EdgeAlarms } from "./edge-alarms.ts";
import { EdgeTable, type Moment } from "./edge-table.ts";
import { OwnClock } from "./own-clock.ts";
import { senderNames } from "./sender.ts";

export interface Edges {
  readonly desk: ClockDesk;
  readonly table: EdgeTable;
  readonly own: OwnClock;
  readonly nameOf: (address: string) => string;
  readonly moment: () => Moment;
}

export interface EdgesOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly randomness: Randomness;
  readonly log: Log;
  readonly tokens: Pick<Tokens, "time">;
  /** PostgreSQL's clock, epoch milliseconds. */
  readonly databaseClock: () => Promise<number>;
}

export function createEdges(options: EdgesOptions): Edges {
  const { clock, timers, randomness, log, tokens } = options;
  const moment = (): Moment => ({ now: clock.now(), monotonicMs: timers.monotonicMs() });
  // By a clock that is never set: the one of the day is what is in doubt here.
  const steady: Clock = { now: () => epochMs(Math.floor(timers.monotonicMs())) };
  const buckets = (bucketsMax: number) => createMemoryTokenBucket(steady, { bucketsMax });
  const table = new EdgeTable({
    rowsMax: EDGE_ROWS_MAX,
    rowsPerSenderMax: EDGE_ROWS_PER_SENDER_MAX,
    silentMs: EDGE_SILENT_MS,
    calmMs: EDGE_ALARM_CALM_MS,
  });
  const alarms = new EdgeAlarms({
    log,
    // Each sender with a row, and what is counted for all.
    bucket: buckets(2 * EDGE_ROWS_MAX),
    limits: { sender: CLOCK_LOG_SENDER_LIMIT, total: CLOCK_LOG_TOTAL_LIMIT },
  });
  const desk = new ClockDesk({
    ...{ table, alarms, moment },
    bucket: buckets(CLOCK_BUCKETS_MAX),
    limits: { sender: CLOCK_SENDER_LIMIT, total: CLOCK_TOTAL_LIMIT },
    signingsMax: CLOCK_SIGNINGS_MAX,
    sign: (answer) => tokens.time(answer),
  });
  const own = new OwnClock({
    ...{ clock, timers, log },
    skewSeconds: SKEW_SECONDS_DEFAULT,
    ask: options.databaseClock,
  });
  return { desk, table, own, moment, nameOf: senderNames(randomness.bytes(SENDER_KEY_BYTES)) };
}

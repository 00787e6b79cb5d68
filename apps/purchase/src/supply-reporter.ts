/**
 * Tells the mint when an event is sold out, and when something is left again, until it is heard. Every
 * instance does so for every event: a report is one row of one sequence, and the mint ignores older ones.
 */
import type { MintOrder } from "@vestibule/feed/mint-order";
import { AppError } from "@vestibule/kernel/app-error";
import type { Clock } from "@vestibule/kernel/clock";
import type { Log } from "@vestibule/service/log";
import type { Secret } from "@vestibule/service/secret";
import {
  SUPPLY_DEADLINE_MS,
  SUPPLY_LOOK_MS,
  SUPPLY_RETRY_MS,
  SUPPLY_RETRY_MS_MAX,
} from "./limits.ts";
import type { PendingReport, Supply } from "./supply.ts";

/** One PUT. The answer's status; `undefined` when there was none within the deadline. Never rejects. */
export type PutReport = (request: {
  readonly url: string;
  readonly token: string;
  readonly body: string;
  readonly deadlineMs: number;
}) => Promise<number | undefined>;

/** Told of an event in which the last piece went, something came back, or stock was set. Returns at once, never throws. */
export type SupplyWatch = (event: string) => void;

export interface SupplyReporter {
  /** Looks at this event now. Returns at once. */
  look(event: string): void;
  /** Every `SUPPLY_RETRY_MS`: retries what is due, and looks at all events every second. Never rejects. */
  tick(): Promise<void>;
  /** When everything under way has ended. */
  idle(): Promise<void>;
}

export interface ReporterOptions {
  readonly supply: Supply;
  /** Events of the manifest: the mint knows no others. */
  readonly events: () => readonly string[];
  readonly mints: MintOrder;
  readonly token: Secret;
  readonly put: PutReport;
  readonly clock: Clock;
  readonly log: Log;
}

/** The mint heard it. Anything else, also another success, is not its answer. */
const HEARD = 204;
const TICKS_PER_LOOK = Math.round(SUPPLY_LOOK_MS / SUPPLY_RETRY_MS);
const TICKS_MAX = Math.round(SUPPLY_RETRY_MS_MAX / SUPPLY_RETRY_MS);

export function createSupplyReporter(options: ReporterOptions): SupplyReporter {
  const { supply, events, mints, token, put, clock, log } = options;
  /** Events that are being looked at; `again`: asked for meanwhile. */
  const busy = new Map<string, { again: boolean; done: Promise<void> }>();
  /** Reports that were not heard: how often, and from which tick on they are tried again. */
  const failed = new Map<string, { times: number; fromTick: number }>();
  let ticks = 0;
  let isLooking = false;

  async function send({ event, soldOut, seq }: PendingReport): Promise<boolean> {
    const body = JSON.stringify({ soldOut, seq });
    for (const base of mints.urls(clock.now())) {
      const url = `${base}/v1/supply/events/${event}`;
      const status = await put({
        url,
        token: token.reveal(),
        body,
        deadlineMs: SUPPLY_DEADLINE_MS,
      });
      if (status === HEARD) {
        mints.worked(base);
        return true;
      }
      if (status === undefined || status >= 500) mints.failed(base, clock.now());
      log.info("supply-report-not-heard", { event, seq, url, status: status ?? null });
    }
    return false;
  }

  async function lookOnce(event: string): Promise<void> {
    const report = await supply.look(event);
    if (report === undefined) {
      failed.delete(event);
      return;
    }
    if (await send(report)) {
      await supply.acknowledge(report);
      log.info("supply-reported", { ...report });
      failed.delete(event);
      return;
    }
    const times = (failed.get(event)?.times ?? 0) + 1;
    const waitTicks = Math.min(2 ** Math.min(times - 1, 10), TICKS_MAX);
    failed.set(event, { times, fromTick: ticks + waitTicks });
    // Once, and again whenever it lasts: an operator should hear of it, not drown in it.
    if (Number.isInteger(Math.log2(times))) log.warn("supply-report-fails", { event, times });
  }

  async function changed(known: readonly string[]): Promise<readonly string[]> {
    isLooking = true;
    try {
      return await supply.due(known);
    } catch (error) {
      report(error, log);
      return [];
    } finally {
      isLooking = false;
    }
  }

  function start(event: string): Promise<void> {
    const running = busy.get(event);
    if (running !== undefined) {
      running.again = true;
      return running.done;
    }
    const entry = { again: false, done: Promise.resolve() };
    entry.done = (async () => {
      do {
        entry.again = false;
        await lookOnce(event).catch((error: unknown) => report(error, log));
      } while (entry.again && !failed.has(event));
    })().finally(() => busy.delete(event));
    busy.set(event, entry);
    return entry.done;
  }

  return {
    look: (event) => void start(event),
    tick: async () => {
      ticks += 1;
      const retries = [...failed].filter(([, { fromTick }]) => ticks >= fromTick);
      const known = new Set(events());
      for (const event of failed.keys()) if (!known.has(event)) failed.delete(event);
      const due = new Set(retries.map(([event]) => event).filter((event) => known.has(event)));
      if (ticks % TICKS_PER_LOOK === 0 && known.size > 0 && !isLooking) {
        for (const event of await changed([...known])) if (!failed.has(event)) due.add(event);
      }
      await Promise.all([...due].map((event) => start(event)));
    },
    idle: async () => {
      await Promise.all([...busy.values()].map(({ done }) => done));
    },
  };
}

function report(error: unknown, log: Log): void {
  // PostgreSQL is away: the next tick finds out.
  if (error instanceof AppError) log.info("supply-look-postponed", { reason: error.message });
  else log.error("supply-look-failed", error);
}

/**
 * Tells the mint when an event is sold out, and when something is left again, whether what is left will last, and about how
 * much it is, until it is heard, and once a minute after that: a database that failed over may have forgotten it. Every instance does so
 * for every event: a report is one row of one sequence, and the mint ignores older ones.
 */
import { AppError } from "@vestibule/kernel/app-error";
import type { Log } from "@vestibule/service/log";
import type { LastCalls } from "./last-calls.ts";
import {
  NOT_UNDERSTOOD_RETRY_MS,
  SUPPLY_LOOK_MS,
  SUPPLY_REPEAT_MS,
  SUPPLY_RETRY_MS,
  SUPPLY_RETRY_MS_MAX,
} from "./limits.ts";
import { tellMint, type TellOptions } from "./supply-tell.ts";
import type { Supply, SupplyLevel } from "./supply.ts";

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

export interface ReporterOptions extends TellOptions {
  readonly supply: Supply;
  readonly lastCalls: LastCalls;
  /** Slots per minute of an event, as far as it is known. */
  readonly rate: (event: string) => number | undefined;
  /** Events of the manifest: the mint knows no others. */
  readonly events: () => readonly string[];
}

const TICKS_PER_LOOK = Math.round(SUPPLY_LOOK_MS / SUPPLY_RETRY_MS);
const TICKS_MAX = Math.round(SUPPLY_RETRY_MS_MAX / SUPPLY_RETRY_MS);
const REPEAT_TICKS = Math.round(SUPPLY_REPEAT_MS / SUPPLY_RETRY_MS);
const NOT_UNDERSTOOD_RETRY_TICKS = Math.round(NOT_UNDERSTOOD_RETRY_MS / SUPPLY_RETRY_MS);

export function createSupplyReporter(options: ReporterOptions): SupplyReporter {
  const { supply, lastCalls, rate, events, clock, log } = options;
  /** Events that are being looked at; `again`: asked for meanwhile. */
  const busy = new Map<string, { again: boolean; done: Promise<void> }>();
  /** Reports that were not heard: how often, and from which tick on they are tried again. */
  const failed = new Map<string, { times: number; fromTick: number }>();
  /** Where not all was understood: from which tick on that is told again. What is understood is told at once. */
  const postponed = new Map<string, number>();
  /** In which tick each event was last told of, or first seen. */
  const toldIn = new Map<string, number>();
  /** What the last look made of each event; those that stay as they are have none. */
  const judged = new Map<string, boolean>();
  let ticks = 0;
  let isLooking = false;

  async function lookOnce(event: string): Promise<void> {
    const again = isOld(event);
    const report = await supply.look(event, { lastCall: judged.get(event), again });
    if (report === undefined) {
      failed.delete(event);
      return;
    }
    const heard = await tellMint(options, report);
    if (heard !== "nothing") {
      await supply.acknowledge(report, heard);
      if (!again) log.info("supply-reported", { ...report, heard });
      failed.delete(event);
      toldIn.set(event, ticks);
      if (heard === "all") postponed.delete(event);
      else postponed.set(event, ticks + NOT_UNDERSTOOD_RETRY_TICKS);
      return;
    }
    const times = (failed.get(event)?.times ?? 0) + 1;
    const waitTicks = Math.min(2 ** Math.min(times - 1, 10), TICKS_MAX);
    failed.set(event, { times, fromTick: ticks + waitTicks });
    // Once, and again whenever it lasts: an operator should hear of it, not drown in it.
    if (Number.isInteger(Math.log2(times))) log.warn("supply-report-fails", { event, times });
  }

  /** Whether what was told of it may be forgotten by now. */
  function isOld(event: string): boolean {
    return ticks >= (toldIn.get(event) ?? ticks) + REPEAT_TICKS;
  }

  /** Whether there is anything to tell of it. */
  function isDue(level: SupplyLevel): boolean {
    const { event, unheard, wasTold } = level;
    if (!toldIn.has(event)) toldIn.set(event, ticks);
    const isLastCall = lastCalls.judge(event, {
      ...level,
      now: clock.now(),
      ratePerMinute: rate(event),
    });
    if (isLastCall === undefined) judged.delete(event);
    else judged.set(event, isLastCall);
    return (
      isChanged(level, isLastCall) ||
      unheard.soldOut ||
      ((unheard.lastCall || unheard.unsold) && ticks >= (postponed.get(event) ?? 0)) ||
      (wasTold && isOld(event))
    );
  }

  async function changed(known: readonly string[]): Promise<readonly string[]> {
    isLooking = true;
    try {
      return (await supply.levels(known)).filter(isDue).map(({ event }) => event);
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
      for (const map of [failed, postponed, toldIn, judged]) {
        for (const event of map.keys()) if (!known.has(event)) map.delete(event);
      }
      lastCalls.keep(known);
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

/** Whether it is other than what was told. */
function isChanged(
  { soldOut, unsold, told }: SupplyLevel,
  isLastCall: boolean = told.lastCall,
): boolean {
  return soldOut !== told.soldOut || isLastCall !== told.lastCall || unsold !== told.unsold;
}

function report(error: unknown, log: Log): void {
  // PostgreSQL is away: the next tick finds out.
  if (error instanceof AppError) log.info("supply-look-postponed", { reason: error.message });
  else log.error("supply-look-failed", error);
}

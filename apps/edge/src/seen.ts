/**
 * What happened here: counted for this location, and where somebody should hear of it, told in the log. One place for both,
 * so that no line is without its counter. Nothing of a visitor is told: no token, no secret, no address.
 */
import type { ProblemCode } from "@vestibule/contracts/problems";
import type { Clock } from "@vestibule/kernel/clock";
import type { EpochMs } from "@vestibule/kernel/units";
import { FLUSH_EVERY_MS, LOG_LINES_PER_SECOND_MAX } from "./limits.ts";

/** The part of an Analytics Engine dataset that is used. */
export interface Dataset {
  writeDataPoint(point: { indexes: string[]; blobs: string[]; doubles: number[] }): void;
}

/** Since this isolate began. Incremented in place: on the hot path that is all. */
class Counts {
  /** Polls of the drip that were answered from memory. */
  polls = 0;
  /** Requests forwarded with a good admission. */
  admitted = 0;
  /** Requests that passed by a bypass rule. */
  exempted = 0;
  heldPage = 0;
  heldProblem = 0;
  /** Places given by a mint. */
  joined = 0;
  /** Places shown again, and kept. */
  kept = 0;
  /** Admissions given. */
  claimed = 0;
  purchases = 0;
  /** Joins or claims over the limit. */
  limited = 0;
  /** Let through, since the limiter failed. */
  limiterFailed = 0;
  /** Answers of the origin from 500 on. */
  originErrors = 0;
  /** Questions to a mint that got no good answer. */
  mintFailed = 0;
  /** Times that a circuit opened. */
  circuitOpened = 0;
  /** Judgements that the own clock was wrong, or that nobody could tell. */
  clockTold = 0;
  /** A broken invariant of ours. */
  internal = 0;
}

export type Counter = keyof Counts;

/** One line of the log, `at` and `location` apart. */
export interface Notable {
  readonly kind: string;
  readonly [member: string]: unknown;
}

export interface Seen {
  readonly counts: Record<Counter, number>;
  /** An answer of ours that refuses, by the code of its problem. */
  refused(code: ProblemCode | undefined): void;
  /** Counted, and told unless the second has had its lines. */
  tell(counter: Counter, notable: Notable): void;
  /** Told without being counted: what is so from the beginning. */
  say(notable: Notable): void;
  /** True once in `FLUSH_EVERY_MS`: for whoever calls `flush` when the answer is given. */
  turn(now: EpochMs): boolean;
  /** Writes what was counted since the last time. */
  flush(): void;
  totals(): Readonly<Record<string, number>>;
}

export function createSeen({
  clock,
  location,
  log,
  dataset,
}: {
  readonly clock: Clock;
  readonly location: string;
  readonly log: (line: object) => void;
  readonly dataset?: Dataset | undefined;
}): Seen {
  const counts: Record<Counter, number> = new Counts();
  const refusals = new Map<string, number>();
  const written = new Map<string, number>();
  let turnAt = Number.NEGATIVE_INFINITY;
  let second = 0;
  let lines = 0;
  let dropped = 0;

  function say(notable: Notable): void {
    const at = clock.now();
    if (Math.floor(at / 1_000) !== second) {
      second = Math.floor(at / 1_000);
      lines = 0;
    }
    lines += 1;
    if (lines > LOG_LINES_PER_SECOND_MAX) {
      dropped += 1;
      return;
    }
    log({ at, location, ...notable, ...(dropped === 0 ? {} : { dropped }) });
    dropped = 0;
  }

  function totals(): Record<string, number> {
    const refused = [...refusals].map(([code, count]) => [`refused:${code}`, count] as const);
    return { ...counts, ...Object.fromEntries(refused) };
  }

  return {
    counts,
    say,
    totals,
    refused(code) {
      if (code !== undefined) refusals.set(code, (refusals.get(code) ?? 0) + 1);
    },
    tell(counter, notable) {
      counts[counter] += 1;
      say(notable);
    },
    // By the distance: a clock that was set back must not stop it.
    turn(now) {
      if (Math.abs(now - turnAt) < FLUSH_EVERY_MS) return false;
      turnAt = now;
      return true;
    },
    flush() {
      if (dataset === undefined) return;
      for (const [name, count] of Object.entries(totals())) {
        const news = count - (written.get(name) ?? 0);
        if (news === 0) continue;
        written.set(name, count);
        dataset.writeDataPoint({ indexes: [location], blobs: [location, name], doubles: [news] });
      }
    },
  };
}

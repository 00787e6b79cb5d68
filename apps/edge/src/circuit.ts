/** A circuit breaker whose openings are counted and told. */
import { type BreakerState, createBreaker } from "@vestibule/feed/breaker";
import type { EpochMs } from "@vestibule/kernel/units";
import type { Seen } from "./seen.ts";

export interface Circuit {
  state(now: EpochMs): BreakerState;
  /** True for the one request that may ask while it is half open. */
  probe(now: EpochMs): boolean;
  /** It answered with whatever, or failed at once. */
  answered(now: EpochMs): void;
  timedOut(now: EpochMs): void;
}

/** A question that has not reported so long after its deadline was cancelled with its request. */
const CANCELLED_AFTER_MS = 1_000;

/**
 * @param url of whom it protects, for the log
 * @param deadlineMs of one question
 */
export function createCircuit(
  { url, deadlineMs }: { url: string; deadlineMs: number },
  seen: Seen,
): Circuit {
  const breaker = createBreaker(deadlineMs + CANCELLED_AFTER_MS);
  return {
    state: (now) => breaker.state(now),
    probe: (now) => breaker.probe(now),
    answered(now) {
      if (breaker.state(now) !== "closed") seen.say({ kind: "circuit-closed", url });
      breaker.answered();
    },
    timedOut(now) {
      const wasClosed = breaker.state(now) === "closed";
      breaker.timedOut(now);
      if (wasClosed) seen.tell("circuitOpened", { kind: "circuit-opened", url });
    },
  };
}

/** A circuit breaker whose openings are counted and told. */
import { type BreakerState, createBreaker } from "@vestibule/feed/breaker";
import type { EpochMs } from "@vestibule/kernel/units";
import type { Seen } from "./seen.ts";

export interface Circuit {
  state(now: EpochMs): BreakerState;
  /** True for the one request that may ask while it is half open. */
  probe(now: EpochMs): boolean;
  /** As of `Breaker`: noted before the question. */
  mark(): number;
  /** It answered with whatever, or failed at once. */
  answered(now: EpochMs): void;
  timedOut(now: EpochMs, mark: number): void;
}

/** A question that has not reported so long after its deadline was cancelled with its request. */
const CANCELLED_AFTER_MS = 1_000;

interface Protected {
  /** Of whom, and which of its answers, for the log. */
  readonly url: string;
  readonly grant?: string;
  /** Of one question. */
  readonly deadlineMs: number;
}

export function createCircuit({ deadlineMs, ...whom }: Protected, seen: Seen): Circuit {
  const breaker = createBreaker(deadlineMs + CANCELLED_AFTER_MS);
  return {
    state: (now) => breaker.state(now),
    probe: (now) => breaker.probe(now),
    mark: () => breaker.mark,
    answered(now) {
      if (breaker.state(now) !== "closed") seen.say({ kind: "circuit-closed", ...whom });
      breaker.answered();
    },
    timedOut(now, mark) {
      const wasClosed = breaker.state(now) === "closed";
      breaker.timedOut(now, mark);
      const hasOpened = wasClosed && breaker.state(now) !== "closed";
      if (hasOpened) seen.tell("circuitOpened", { kind: "circuit-opened", ...whom });
    },
  };
}

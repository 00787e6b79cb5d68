import { epochMs } from "@vestibule/kernel/units";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Breaker, createBreaker } from "../src/breaker.ts";
import { BREAKER_REST_MS_MAX, BREAKER_REST_MS_MIN } from "../src/limits.ts";

const PROBE_DEAD_MS = 4_000;
const T = 1_800_000_000_000;
const at = (ms: number) => epochMs(T + ms);

/** A question that was asked just before its deadline passed. */
function timeOut(breaker: Breaker, ms: number): void {
  breaker.timedOut(at(ms), breaker.mark);
}

describe("a circuit breaker", () => {
  test("is closed until a deadline passes, whatever else fails", () => {
    const breaker = createBreaker(PROBE_DEAD_MS);
    breaker.answered();
    expect(breaker.state(at(0))).toBe("closed");
    expect(breaker.probe(at(0))).toBe(false);
    timeOut(breaker, 0);
    expect(breaker.state(at(0))).toBe("open");
  });

  test("lets one request through after its rest, and everybody when that is answered", () => {
    const breaker = createBreaker(PROBE_DEAD_MS);
    timeOut(breaker, 0);
    expect(breaker.probe(at(BREAKER_REST_MS_MIN - 1))).toBe(false);
    expect(breaker.state(at(BREAKER_REST_MS_MIN))).toBe("half-open");
    expect(breaker.probe(at(BREAKER_REST_MS_MIN))).toBe(true);
    expect(breaker.probe(at(BREAKER_REST_MS_MIN))).toBe(false);
    expect(breaker.state(at(BREAKER_REST_MS_MIN))).toBe("open");
    breaker.answered();
    expect(breaker.state(at(BREAKER_REST_MS_MIN))).toBe("closed");
  });

  test("gives a probe that was cancelled with its request up for dead", () => {
    const breaker = createBreaker(PROBE_DEAD_MS);
    timeOut(breaker, 0);
    expect(breaker.probe(at(BREAKER_REST_MS_MIN))).toBe(true);
    expect(breaker.probe(at(BREAKER_REST_MS_MIN + PROBE_DEAD_MS - 1))).toBe(false);
    expect(breaker.probe(at(BREAKER_REST_MS_MIN + PROBE_DEAD_MS))).toBe(true);
  });

  test("counts requests that were asked together as one, however late the last of them times out", () => {
    const breaker = createBreaker(PROBE_DEAD_MS);
    const { mark } = breaker;
    for (let ms = 0; ms < BREAKER_REST_MS_MIN; ms += 1) breaker.timedOut(at(ms), mark);
    expect(breaker.state(at(BREAKER_REST_MS_MIN))).toBe("half-open");
    expect(breaker.probe(at(BREAKER_REST_MS_MIN))).toBe(true);
    const probe = breaker.mark;
    // Neither is the probe's place free by them, nor the rest after it longer.
    breaker.timedOut(at(BREAKER_REST_MS_MIN + 1), mark);
    expect(breaker.probe(at(BREAKER_REST_MS_MIN + 1))).toBe(false);
    breaker.timedOut(at(BREAKER_REST_MS_MIN + 2), probe);
    expect(breaker.state(at(3 * BREAKER_REST_MS_MIN + 2))).toBe("half-open");
  });

  test("refuses nobody while it answers: a question that takes too long among answers opens nothing", () => {
    const breaker = createBreaker(PROBE_DEAD_MS);
    const slow = breaker.mark;
    breaker.answered();
    breaker.timedOut(at(3_000), slow);
    expect(breaker.state(at(3_000))).toBe("closed");
    // Asked after the last answer: it is gone.
    timeOut(breaker, 6_000);
    expect(breaker.state(at(6_000))).toBe("open");
  });

  test("rests twice as long after each probe in vain, and never longer than its most", () => {
    const breaker = createBreaker(PROBE_DEAD_MS);
    let now = 0;
    timeOut(breaker, now);
    for (let restMs = BREAKER_REST_MS_MIN; restMs < 8 * BREAKER_REST_MS_MAX; restMs *= 2) {
      const bounded = Math.min(restMs, BREAKER_REST_MS_MAX);
      expect(breaker.state(at(now + bounded - 1))).toBe("open");
      now += bounded;
      expect(breaker.probe(at(now))).toBe(true);
      timeOut(breaker, now);
    }
  });

  test("whatever happens, and wherever the clock is set, somebody asks again within the longest rest", () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constantFrom("timedOut", "answered", "probe") }),
      fc.record({ kind: fc.constant("clock"), ms: fc.integer({ min: -60_000, max: 60_000 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const breaker = createBreaker(PROBE_DEAD_MS);
        let now = 0;
        for (const taken of steps) {
          if ("ms" in taken) now += taken.ms;
          else if (taken.kind === "answered") breaker.answered();
          else if (taken.kind === "timedOut") timeOut(breaker, now);
          else breaker.probe(at(now));
        }
        const later = at(now + BREAKER_REST_MS_MAX + PROBE_DEAD_MS + 120_000);
        expect(breaker.state(later) === "closed" || breaker.probe(later)).toBe(true);
      }),
    );
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { epochMs } from "@vestibule/kernel/units";
import { type ClockReading, estimateAt, readClock } from "../src/clock-offset.ts";
import { DRIFT_PPM_MAX, READING_TRUST_MS, ROUND_TRIP_MS_MAX } from "../src/limits.ts";

const START_MS = 1_800_000_000_000;

/** Two clocks in one simulated world, whose time is that of the mint's clock; it is real, clocks say whole milliseconds. */
class Clocks {
  /** The mint's clock. */
  ms = START_MS;
  /** The own clock less the mint's. */
  offMs: number;
  ppm = 0;

  constructor(offMs: number) {
    this.offMs = offMs;
  }

  pass(ms: number): void {
    this.ms += ms;
    this.offMs += (ms * this.ppm) / 1_000_000;
  }

  own = () => epochMs(Math.floor(this.ms + this.offMs));
  mints = () => Math.floor(this.ms);
}

const span = (max: number) => fc.double({ min: 0, max, noNaN: true });
/** One question, what happens on its ways, and what the clock does before the next look. */
const questions = fc.array(
  fc.record({
    ppm: fc.integer({ min: -DRIFT_PPM_MAX, max: DRIFT_PPM_MAX }),
    // A runtime whose clock stands still between events: it says an earlier time, or the message is there later.
    idleMs: span(50),
    outMs: span(1_000),
    backMs: span(1_000),
    // Set in the middle of a question, and in between two of them; `steady`: the runtime has a clock that is never set.
    steady: fc.boolean(),
    setInMs: fc.oneof(
      { weight: 3, arbitrary: fc.constant(0) },
      fc.double({ min: -2_000, max: 2_000, noNaN: true }),
    ),
    setMs: fc.oneof(
      { weight: 3, arbitrary: fc.constant(0) },
      fc.double({ min: -600_000, max: 600_000, noNaN: true }),
      fc.double({ min: -300, max: 300, noNaN: true }),
    ),
    restMs: span(60_000),
  }),
  { minLength: 1, maxLength: 12 },
);
type Question = typeof questions extends fc.Arbitrary<(infer One)[]> ? One : never;

/** Gives every reading, with what was really so, to `look`; once at the receipt and once after a rest. */
function simulate(
  offMs: number,
  run: readonly Question[],
  look: (reading: ClockReading, clocks: Clocks) => void,
): void {
  const clocks = new Clocks(offMs);
  for (const { ppm, idleMs, outMs, backMs, steady, setInMs, setMs, restMs } of run) {
    clocks.ppm = ppm;
    const sentAt = clocks.own();
    const began = clocks.ms;
    clocks.pass(idleMs + outMs);
    const at = clocks.mints();
    // Without such a clock one that is set back may go unseen.
    clocks.offMs += steady ? setInMs : Math.max(0, setInMs);
    clocks.pass(backMs + idleMs);
    const roundTripMs = steady ? clocks.ms - began : undefined;
    const reading = readClock({ sentAt, receivedAt: clocks.own(), at, roundTripMs });
    if (reading !== undefined) {
      look(reading, clocks);
      clocks.pass(restMs);
      look(reading, clocks);
    }
    clocks.offMs += setMs;
  }
}

function isInside(reading: ClockReading, clocks: Clocks): boolean {
  const estimate = estimateAt(reading, clocks.own());
  if (estimate === undefined) return true;
  return Math.abs(clocks.offMs - estimate.offsetMs) <= estimate.uncertaintyMs;
}

const property = (see: (reading: ClockReading) => ClockReading) =>
  fc.property(fc.integer({ min: -600_000, max: 600_000 }), questions, (offMs, run) => {
    const found: boolean[] = [];
    const seen = new Map<ClockReading, ClockReading>();
    simulate(offMs, run, (reading, clocks) => {
      const said = seen.get(reading) ?? see(reading);
      seen.set(reading, said);
      found.push(isInside(said, clocks));
    });
    return !found.includes(false);
  });

describe("the true offset is inside the interval", () => {
  test("for any delays, drift within the bound, and a clock that was set by any amount before", () => {
    fc.assert(
      property((reading) => reading),
      { numRuns: 1_000 },
    );
  });
  test("canary: readings that are narrowed by earlier ones are caught", () => {
    const failed = fc.check(
      property(
        (() => {
          let last: ClockReading | undefined;
          return (reading: ClockReading) => {
            const lowMs = Math.max(reading.lowMs, last?.lowMs ?? reading.lowMs);
            const highMs = Math.min(reading.highMs, last?.highMs ?? reading.highMs);
            last = lowMs <= highMs ? { ...reading, lowMs, highMs } : reading;
            return last;
          };
        })(),
      ),
      { numRuns: 3_000 },
    );
    expect(failed.failed).toBe(true);
  });
  test("canary: an interval that is 3 ms short at one end is caught", () => {
    const bent = (reading: ClockReading) => ({ ...reading, highMs: reading.highMs - 3 });
    expect(fc.check(property(bent), { numRuns: 3_000 }).failed).toBe(true);
  });
});

const reading = (over: Partial<Parameters<typeof readClock>[0]> = {}) =>
  readClock({
    sentAt: epochMs(START_MS),
    receivedAt: epochMs(START_MS + 100),
    at: START_MS - 5_950,
    ...over,
  });

test("a round trip of 100 ms tells the offset to 51 ms", () => {
  expect(estimateAt(reading(), epochMs(START_MS + 100))).toEqual({
    offsetMs: 6_000,
    uncertaintyMs: 52,
  });
});

test("an answer that took longer than the bound says nothing, by either clock", () => {
  const receivedAt = (ms: number) => ({ receivedAt: epochMs(START_MS + ms) });
  expect(reading(receivedAt(ROUND_TRIP_MS_MAX))).toBeDefined();
  expect(reading(receivedAt(ROUND_TRIP_MS_MAX + 1))).toBeUndefined();
  expect(reading({ roundTripMs: ROUND_TRIP_MS_MAX })).toBeDefined();
  expect(reading({ roundTripMs: ROUND_TRIP_MS_MAX + 0.1 })).toBeUndefined();
});

test("a clock that was set back in the middle widens the interval by as much, or says nothing", () => {
  const receivedAt = epochMs(START_MS + 40);
  expect(estimateAt(reading({ receivedAt, roundTripMs: 100 }), receivedAt)).toEqual({
    offsetMs: 5_940,
    uncertaintyMs: 52,
  });
  const before = epochMs(START_MS - 1);
  expect(reading({ receivedAt: before, roundTripMs: 100 })).toBeUndefined();
  expect(reading({ receivedAt: before })).toBeUndefined();
});

test("an answer says less and less, and nothing after its time or when the clock was set back since", () => {
  const said = reading();
  const after = (ms: number) => estimateAt(said, epochMs(START_MS + 100 + ms));
  expect(after(30_000)?.uncertaintyMs).toBe(82);
  expect(after(READING_TRUST_MS)?.uncertaintyMs).toBe(652);
  expect(after(READING_TRUST_MS + 1)).toBeUndefined();
  expect(after(-1)).toBeUndefined();
  expect(estimateAt(undefined, epochMs(START_MS))).toBeUndefined();
});

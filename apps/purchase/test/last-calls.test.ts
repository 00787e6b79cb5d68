/** When what is left will not last: by the pace of selling, seen by several instances a little apart. */
import { epochMs } from "@vestibule/kernel/units";
import { SeededRandomness } from "@vestibule/testkit/seeded-randomness";
import { expect, test } from "vitest";
import { createLastCalls, type LastCalls } from "../src/last-calls.ts";
import { LAST_CALL_AHEAD_MS } from "../src/limits.ts";

const NOW = 1_767_225_600_000;
const MINUTE = 60_000;

/** The stock of one event and what is told of it, as PostgreSQL's rows have it; instances look once a second. */
class Sale {
  total: number;
  taken = 0;
  rate: number | undefined;
  now = NOW;
  isLastCall = false;
  /** When it changed. */
  readonly changes: number[] = [];
  readonly #instances: { readonly calls: LastCalls; readonly offsetMs: number }[] = [];

  constructor(options: { total: number; rate?: number; instances?: number }) {
    this.total = options.total;
    this.rate = options.rate;
    for (let index = 0; index < (options.instances ?? 1); index += 1) this.join();
  }

  /** Another instance, which has seen nothing yet. */
  join(): void {
    this.#instances.push({
      calls: createLastCalls(),
      offsetMs: 137 * this.#instances.length,
    });
  }

  get left(): number {
    return this.total - this.taken;
  }

  /** @param sell how many are sold in a tenth of a second */
  pass(ms: number, sell: (now: number) => number = () => 0): void {
    for (const until = this.now + ms; this.now < until; this.now += 100) {
      this.taken += Math.min(this.left, sell(this.now));
      for (const { calls, offsetMs } of this.#instances) {
        if ((this.now - NOW + Math.floor(offsetMs / 100) * 100) % 1_000 === 0) this.#look(calls);
      }
    }
  }

  #look(calls: LastCalls): void {
    const { left, taken, now, rate } = this;
    const toldForMs = now - (this.changes.at(-1) ?? NOW - 10 * MINUTE);
    const seen = { left, taken, now: epochMs(now), ratePerMinute: rate, toldForMs };
    const wanted = calls.judge("spring", seen) ?? this.isLastCall;
    if (wanted === this.isLastCall) return;
    this.isLastCall = wanted;
    this.changes.push(now);
  }
}

test("a small stock is in its last call before anything is sold: the drip alone can bring its buyers", () => {
  // 600 a minute, two each, two minutes: 2,400.
  const small = new Sale({ total: 2_400, rate: 600 });
  small.pass(1_000);
  expect(small.isLastCall).toBe(true);
  const large = new Sale({ total: 2_401, rate: 600 });
  large.pass(5 * MINUTE);
  expect(large.isLastCall).toBe(false);
});

test.each([
  ["as fast as the drip can bring", 1_200, 600],
  ["faster: groups of eight", 4_800, 600],
  ["slower, with the drip unknown", 240, undefined],
  ["slowly", 60, 6],
])(
  "it begins the stated time before the last one goes, and stays: %s",
  (_name, soldPerMinute, rate) => {
    const sale = new Sale({ total: 60_000, ...(rate === undefined ? {} : { rate }), instances: 3 });
    let due = 0;
    const sell = () => {
      due += soldPerMinute / 600;
      const now = Math.floor(due);
      due -= now;
      return now;
    };
    sale.taken = 60_000 - soldPerMinute * 20;
    while (sale.left > 0) sale.pass(1_000, sell);
    const soldOutAt = sale.now;
    sale.pass(10 * MINUTE);
    expect(sale.changes).toHaveLength(1);
    const aheadMs = soldOutAt - (sale.changes[0] ?? 0);
    expect(aheadMs).toBeGreaterThan(LAST_CALL_AHEAD_MS - 10_000);
    expect(aheadMs).toBeLessThan(LAST_CALL_AHEAD_MS + 10_000);
    expect(sale.isLastCall).toBe(true);
  },
);

test("a stock that is raised ends it, once, by an instance that has watched for the window", () => {
  const sale = new Sale({ total: 100, rate: 60, instances: 2 });
  sale.pass(2 * MINUTE);
  expect(sale.isLastCall).toBe(true);
  sale.total = 50_000;
  sale.pass(2_000);
  expect(sale.isLastCall).toBe(false);
  sale.pass(10 * MINUTE);
  expect(sale.changes).toHaveLength(2);

  const unwatched = new Sale({ total: 100, rate: 60 });
  unwatched.pass(1_000);
  unwatched.total = 50_000;
  unwatched.pass(50_000);
  expect(unwatched.isLastCall).toBe(true);
  unwatched.pass(MINUTE);
  expect(unwatched.isLastCall).toBe(false);
});

test("between the two bounds it stays what it is, and without the drip's rate no end is called", () => {
  const sale = new Sale({ total: 240, rate: 60 });
  sale.pass(3 * MINUTE);
  sale.total = 480;
  sale.pass(3 * MINUTE);
  expect(sale.isLastCall).toBe(true);
  sale.total = 481;
  sale.rate = undefined;
  sale.pass(3 * MINUTE);
  expect(sale.isLastCall).toBe(true);
  sale.rate = 60;
  sale.pass(MINUTE);
  expect(sale.isLastCall).toBe(false);
});

test("a raised stock is no selling, and seats that come back count against the pace", () => {
  const sale = new Sale({ total: 10_000, rate: 6 });
  sale.pass(2 * MINUTE);
  sale.total = 5_000;
  sale.pass(2 * MINUTE);
  expect(sale.changes).toEqual([]);
  // As many expire as are held anew: nothing goes.
  sale.pass(5 * MINUTE, (now) => (now % 2_000 < 1_000 ? 10 : -10));
  expect(sale.changes).toEqual([]);
});

test("selling by fits and starts, instances that join, rates and stocks that change: it changes seldom, however it goes", () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const random = new SeededRandomness(seed);
    const next = () => (random.bytes(1)[0] ?? 0) / 256;
    const sale = new Sale({ total: 20_000, rate: 60, instances: 3 });
    for (let minute = 0; minute < 60; minute += 1) {
      const isBusy = next() < 0.5;
      const groups = 1 + Math.floor(next() * 100);
      if (next() < 0.1) sale.join();
      if (next() < 0.1) sale.total += Math.floor(next() * 2_000);
      if (next() < 0.1) sale.rate = 6 + Math.floor(next() * 600);
      sale.pass(MINUTE, () => (isBusy && next() < 0.1 ? groups : 0));
    }
    // Twice within the time that it stays for only where an end was called by one that has seen less.
    expect(sale.changes.length, `seed ${seed}`).toBeLessThan(60);
    const gaps = sale.changes.slice(2).map((at, index) => at - (sale.changes[index] ?? 0));
    expect(Math.min(Infinity, ...gaps), `seed ${seed}`).toBeGreaterThan(70_000);
  }
});

test("a clock that is set back starts the watch anew, and nothing is made up", () => {
  const calls = createLastCalls();
  const look = (now: number, taken: number) =>
    calls.judge("spring", {
      ...{ left: 10_000, taken, ratePerMinute: 60, toldForMs: 10 * MINUTE },
      now: epochMs(now),
    });
  for (let second = 0; second < 120; second += 1) look(NOW + second * 1_000, 0);
  expect(look(NOW + 121_000, 0)).toBe(false);
  expect(look(NOW - 3_600_000, 0)).toBeUndefined();
});

test("events that the mint does not know any more are forgotten", () => {
  const calls = createLastCalls();
  const seen = { left: 10_000, taken: 0, ratePerMinute: 60, toldForMs: 10 * MINUTE };
  for (let second = 0; second <= 61; second += 1) {
    calls.judge("spring", { ...seen, now: epochMs(NOW + second * 1_000) });
  }
  calls.keep(new Set(["autumn"]));
  expect(calls.judge("spring", { ...seen, now: epochMs(NOW + 62_000) })).toBeUndefined();
});

import { SeededRandomness } from "@vestibule/testkit/seeded-randomness";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RecentJoins } from "../src/line/recent-joins.ts";

const secret = new Uint8Array([1, 2, 3, 4]);
const random = new SeededRandomness(7);
const sub = () => new Uint32Array(random.bytes(32).buffer);
const table = (entriesMax = 1_024) => new RecentJoins({ entriesMax, keepMs: 60_000, secret });

describe("the table of recent joins", () => {
  it("finds a join for a minute, to the millisecond", () => {
    const joins = table();
    const visitor = sub();
    joins.remember(visitor, 1, { number: 5, at: 1_000 });
    expect(joins.find(visitor, 1, 60_999)).toBe(5);
    expect(joins.find(visitor, 1, 61_000)).toBeUndefined();
  });

  it("keeps lines apart", () => {
    const joins = table();
    const visitor = sub();
    joins.remember(visitor, 1, { number: 5, at: 0 });
    expect(joins.find(visitor, 2, 0)).toBeUndefined();
  });

  it("compares the whole sub: visitors that differ in any one bit are two", () => {
    const joins = table(8); // one bucket: everybody meets
    for (let bit = 0; bit < 256; bit += 1) {
      const one = sub();
      const other = one.slice();
      other[bit >> 5] = (other[bit >> 5]! ^ (1 << (bit & 31))) >>> 0;
      joins.remember(one, 1, { number: bit + 1, at: bit });
      expect(joins.find(other, 1, bit)).toBeUndefined();
      expect(joins.find(one, 1, bit)).toBe(bit + 1);
    }
  });

  it("forgets the oldest of a full bucket first", () => {
    const joins = table(8);
    const visitors = Array.from({ length: 9 }, sub);
    for (const [index, visitor] of visitors.entries()) {
      joins.remember(visitor, 1, { number: index + 1, at: index });
    }
    expect(visitors.map((visitor) => joins.find(visitor, 1, 8))).toEqual([
      undefined,
      2,
      3,
      4,
      5,
      6,
      7,
      8,
      9,
    ]);
  });

  it("replaces the number of a visitor who joins again later", () => {
    const joins = table();
    const visitor = sub();
    joins.remember(visitor, 1, { number: 5, at: 0 });
    joins.remember(visitor, 1, { number: 9, at: 70_000 });
    expect(joins.find(visitor, 1, 70_001)).toBe(9);
  });

  it("never answers with a number that this visitor was not given in this line", () => {
    const step = fc.record({
      visitor: fc.nat(40),
      line: fc.integer({ min: 1, max: 3 }),
      waitMs: fc.nat(20_000),
    });
    const visitors = Array.from({ length: 41 }, sub);
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const joins = table(64);
        const given = new Map<string, { number: number; at: number }>();
        let now = 0;
        let number = 0;
        for (const { visitor, line, waitMs } of steps) {
          now += waitMs;
          const words = visitors[visitor]!;
          const found = joins.find(words, line, now);
          const last = given.get(`${visitor} ${line}`);
          if (found !== undefined) {
            expect(found).toBe(last?.number);
            expect(now - last!.at).toBeLessThan(60_000);
          } else {
            number += 1;
            joins.remember(words, line, { number, at: now });
            given.set(`${visitor} ${line}`, { number, at: now });
          }
        }
      }),
    );
  });

  it("holds joins for half of its places and forgets few of them", () => {
    const joins = table(65_536);
    const visitors = Array.from({ length: 32_768 }, sub);
    for (const [index, visitor] of visitors.entries()) {
      joins.remember(visitor, 1, { number: index + 1, at: index });
    }
    const lost = visitors.filter((visitor) => joins.find(visitor, 1, 40_000) === undefined).length;
    expect(lost).toBeLessThan(visitors.length / 100 + 1_000);
  });
});

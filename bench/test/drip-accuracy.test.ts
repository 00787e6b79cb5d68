import { opensAt } from "@vestibule/drip/segment";
import { epochMs, ticketNumber } from "@vestibule/kernel/units";
import { describe, expect, it } from "vitest";
import { accuracyOf, type Sale } from "../src/drip/accuracy.ts";
import type { Commitment } from "@vestibule/mint/test/support/virtual-line.ts";

const START = 1_800_000_000_000;
const PIECE_MS = 5_000;

/** A minute at `perMinute`, in pieces of 5 s, under a rate of 6,000. */
function sale(perMinute: number, change: (piece: Commitment, index: number) => Commitment): Sale {
  const count = (perMinute * PIECE_MS) / 60_000;
  const commitments = Array.from({ length: 12 }, (_, index): Commitment => {
    const from = START + index * PIECE_MS;
    const segment = {
      ...{ id: index, base: ticketNumber(1 + index * count), count },
      ...{ from: epochMs(from), until: epochMs(from + PIECE_MS) },
    };
    return change({ segment, decidedAt: START, lapsedSoFar: 0 }, index);
  });
  const rates = { ratePerMinute: 6_000, ratePlan: [] };
  const until = START + 60_000;
  return { commitments, rates, overdrivePercent: 150, down: [], from: START, until };
}
const same = (piece: Commitment): Commitment => piece;

describe("the accounting of drip-accuracy", () => {
  it("finds nothing wrong with a drip that is exact", () => {
    const { windows, above, leastShare } = accuracyOf(sale(6_000, same));
    expect([windows, above]).toEqual([10_000, 0]);
    expect(leastShare).toBeGreaterThan(0.998);
  });

  it("catches a drip that is 2 % slower, and one that is 2 % faster", () => {
    expect(accuracyOf(sale(5_880, same)).leastShare).toBeLessThan(0.981);
    const fast = accuracyOf(sale(6_120, same));
    expect(fast.above).toBe(fast.windows / 2);
  });

  it("lets what lapsed be given back once, and not faster than the overdrive", () => {
    const lapsed = (slots: number) => (piece: Commitment) => ({ ...piece, lapsedSoFar: slots });
    expect(accuracyOf(sale(6_120, lapsed(120))).above).toBe(0);
    expect(accuracyOf(sale(6_120, lapsed(50))).above).toBeGreaterThan(2_000);
    expect(accuracyOf(sale(9_600, lapsed(100_000))).above).toBeGreaterThan(7_000);
  });

  it("counts a hole as one, unless something was down", () => {
    const hole = (piece: Commitment, index: number): Commitment =>
      index < 6
        ? piece
        : {
            ...piece,
            segment: {
              ...piece.segment,
              from: later(piece.segment.from),
              until: later(piece.segment.until),
            },
          };
    const holed = { ...sale(6_000, hole), until: START + 63_000 };
    expect(accuracyOf(holed).leastShare).toBeLessThan(0.71);
    const down = [[START + 30_000, START + 33_000]] as const;
    expect(accuracyOf({ ...holed, down }).leastShare).toBeGreaterThan(0.998);
  });

  it("lets time that was not committed earn nothing", () => {
    const late = (piece: Commitment, index: number) =>
      index === 3
        ? { ...piece, decidedAt: opensAt(piece.segment, piece.segment.base + 100) }
        : piece;
    expect(accuracyOf(sale(6_000, late)).above).toBeGreaterThan(0);
  });
});

function later(at: number): ReturnType<typeof epochMs> {
  return epochMs(at + 3_000);
}

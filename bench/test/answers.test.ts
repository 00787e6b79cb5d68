import { describe, expect, it } from "vitest";

import type { Answer } from "../src/load/shopper-messages.ts";
import { seenOf, strayMisses, strays, tallyText, winners } from "../src/purchase/answers.ts";
import { type Books, checkBooks } from "../src/purchase/books.ts";
import { onSeveralDevices } from "../src/purchase/gate-sides.ts";

function answer(change: Partial<Answer>): Answer {
  return { shopper: 0, sentAtMs: 0, tookMs: 1, said: "409 sold-out", ...change };
}

describe("what a crowd was told", () => {
  it("is counted by what was said", () => {
    const answers = [answer({}), answer({ said: "201", orderId: "a" }), answer({})];
    expect(tallyText(answers)).toBe("1 × 201, 2 × 409 sold-out");
    expect(strays(answers)).toEqual([]);
    expect(
      strays([answer({ said: "409 already-spent" }), answer({ said: "none: ended" })]),
    ).toHaveLength(2);
  });

  it("speaks against a measurement when more than one in a hundred is neither an order nor sold out", () => {
    const most = Array.from({ length: 99 }, () => answer({}));
    const late = answer({ said: "503 unavailable" });
    expect(strayMisses([...most, late])).toEqual([]);
    expect(strayMisses([...most, late, late])).toEqual([
      "neither an order nor sold out: 2 × 503 unavailable",
    ]);
  });

  it("names one order for each winner, told of it twice or not", () => {
    const told = [
      answer({ shopper: 3, orderId: "a" }),
      answer({ shopper: 3, orderId: "a" }),
      answer({ shopper: 4, orderId: "b" }),
      answer({ shopper: 5 }),
    ];
    expect([...winners(told)]).toEqual([
      [3, "a"],
      [4, "b"],
    ]);
  });

  it("is a fault when one shopper got two orders, or two shoppers one", () => {
    const first = answer({ shopper: 1, orderId: "a" });
    expect(() => winners([first, answer({ shopper: 1, orderId: "b" })])).toThrow("two orders");
    expect(() => winners([first, answer({ shopper: 2, orderId: "a" })])).toThrow("one order");
  });
});

describe("an outage as the answers saw it", () => {
  const outage = { killedAtMs: 1_000, backAtMs: 3_000 };
  const away = answer({ sentAtMs: 1_500, tookMs: 2, said: "503 unavailable" });

  it("recovered with the last 503 after the store was back", () => {
    const seen = seenOf(
      [
        answer({ sentAtMs: 900, tookMs: 40 }),
        away,
        answer({ sentAtMs: 3_300, tookMs: 100, said: "503 unavailable" }),
        answer({ sentAtMs: 3_350, tookMs: 5 }),
        answer({ sentAtMs: 3_500, tookMs: 5, said: "201" }),
      ],
      outage,
    );
    expect(seen).toEqual({
      worstMs: 100,
      worstSentMs: 2_300,
      worstBeforeMs: 40,
      whileAway: 1,
      otherWhileAway: [],
      recoveryMs: 400,
      goodAfter: 1,
    });
  });

  it("recovered at once when no 503 came after that", () => {
    expect(seenOf([away, answer({ sentAtMs: 3_001 })], outage).recoveryMs).toBe(0);
  });

  it("notices whatever was let through while the store was away, and nothing that overlaps its edges", () => {
    const through = answer({ sentAtMs: 1_600, said: "201", orderId: "a" });
    const edges = [
      answer({ sentAtMs: 999, tookMs: 5, said: "201" }),
      answer({ sentAtMs: 2_999, tookMs: 5, said: "201" }),
    ];
    const seen = seenOf([away, through, ...edges], outage);
    expect(seen.otherWhileAway).toEqual([through]);
    expect(seen.whileAway).toBe(2);
  });
});

describe("the books of a sale", () => {
  const good: Books = {
    total: 16,
    sold: 16,
    orders: 16,
    ordered: 16,
    admissions: 16,
    visitors: 16,
    spends: 16,
  };

  it("are good when every order is one spend of one admission", () => {
    expect(() => checkBooks(good, 16)).not.toThrow();
  });

  it.each<[string, Partial<Books>]>([
    ["oversold: 17 of 16", { sold: 17, ordered: 17, orders: 17, admissions: 17, spends: 17 }],
    ["oversold: 17 of 16", { ordered: 17 }],
    ["the stock says 15 sold, the orders 16", { sold: 15 }],
    ["16 orders of 15 admissions with 16 spends", { admissions: 15 }],
    ["16 orders of 16 admissions with 17 spends", { spends: 17 }],
    ["20 seats, not 16", { total: 20 }],
  ])("are bad: %s", (fault, change) => {
    expect(() => checkBooks({ ...good, ...change }, 16)).toThrow(fault);
  });
});

describe("a crowd", () => {
  const admissions = ["a", "b", "c", "d"].map((name) => ({
    visitor: `visitor-${name}`,
    visitorHash: `hash-${name}`,
    token: `token-${name}`,
  }));

  it("has several devices for each user, each with an admission of its own", () => {
    const crowd = onSeveralDevices(admissions, 2);
    expect(crowd.map(({ user }) => user)).toEqual(["user-0", "user-0", "user-1", "user-1"]);
    expect(new Set(crowd.map(({ token }) => token)).size).toBe(4);
  });
});

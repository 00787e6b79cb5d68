/** The checks themselves: a good run passes, and each planted fault is caught by its law. */
import { describe, expect, it } from "vitest";

import { judge } from "./laws/verdict.ts";
import { type Books, Trace } from "./trace.ts";

type Writable<Value> = { -readonly [Key in keyof Value]: Value[Key] };
type Lists = { -readonly [Key in keyof Books]: Writable<Books[Key]> };

const TERMS = {
  ratePerMinute: 600,
  overdrivePercent: 150,
  claimWindowMs: 20_000,
  horizonMs: 10_000,
  mints: ["mint 1", "mint 2"],
};
const STARTED = 1_800_000_000_000;
const FANS = 20;
const SLOT_MS = 100;
const opens = (number: number): number => STARTED + 5_000 + (number - 1) * SLOT_MS;
const closes = (number: number): number => opens(number) + 120_000;

/** Twenty fans who join at once, are let in ten a second and buy; the mints are silent from second 6 to 9. */
function goodRun(): { trace: Trace; books: Lists } {
  const trace = new Trace();
  const segment = { base: 1, count: FANS, from: opens(1), until: opens(FANS + 1) };
  trace.listed([segment]);
  for (let number = 1; number <= FANS; number += 1) {
    const visitor = `visitor ${number}`;
    const moment = { askedAt: STARTED, at: STARTED + 10 };
    const times = { opensAt: opens(number), closesAt: closes(number) };
    const jti = `jti ${number}`;
    const later = { askedAt: opens(number) + 5, at: opens(number) + 20 };
    const order = {
      jti,
      key: `key ${number}`,
      sku: "seat",
      quantity: 1,
      orderId: `order ${number}`,
    };
    trace.joined.push({
      ...moment,
      ...{ visitor, number, ticketNumber: number, holder: `sub ${number}`, shown: undefined },
    });
    trace.claimed.push({ ...moment, visitor, number, jti, kid: "a key", ...times });
    trace.entered.push({ ...later, edge: "edge 1", number, ...times, forged: false, status: 200 });
    trace.bought.push({ ...later, number, ...order, status: 201, code: "201" });
    trace.endings.push({ fan: visitor, ending: "bought", why: "" });
  }
  for (const second of [0, 1, 2, 3, 4, 5, 6, 9, 10]) {
    const askedAt = STARTED + second * 1_000;
    const serving = Math.max(0, Math.min(FANS, (second - 5) * 10 + 1));
    const said = { seq: second, serving, state: "open", digest: `said ${second}` } as const;
    const signed = { signedAt: askedAt, committed: second === 0 ? 0 : FANS };
    trace.statements.push({ source: "mint 1", askedAt, at: askedAt + 10, ...said, ...signed });
  }
  for (const answer of ["join 201", "claim unavailable", "buy 201", "enter nothing"]) {
    trace.count(answer);
  }
  const books = {
    orders: trace.bought.map(({ orderId = "", jti, number, sku, quantity }) => {
      return { orderId, jti, number, sku, quantity };
    }),
    spends: trace.bought.map(({ jti, number }) => ({ jti, number })),
    stock: [{ sku: "seat", total: FANS, sold: FANS }],
    segments: [segment],
    claims: trace.claimed.map(({ number }) => number),
    epoch: 1,
  };
  return { trace, books };
}

/** The first of a list, changed. */
function change<Item extends object>(items: Item[], changed: Partial<Item>): void {
  Object.assign(items[0]!, changed);
}

const FAULTS: readonly {
  readonly name: string;
  readonly plant: (run: ReturnType<typeof goodRun>) => void;
  readonly caughtBy: RegExp;
}[] = [
  {
    name: "a number for two visitors",
    plant: ({ trace }) => change(trace.joined, { number: 2, ticketNumber: 2 }),
    caughtBy: /law 1: number 2 was given to two visitors/,
  },
  {
    name: "a ticket for another number than the answer's",
    plant: ({ trace }) => change(trace.joined, { ticketNumber: 7 }),
    caughtBy: /law 1: the ticket of number 1 says 7/,
  },
  {
    name: "a ticket for another visitor",
    plant: ({ trace }) => trace.joined.push({ ...trace.joined[0]!, holder: "sub 9" }),
    caughtBy: /law 1: the ticket of number 1 is another visitor's/,
  },
  {
    name: "a place that goes back",
    plant: ({ trace }) =>
      trace.joined.push({ ...trace.joined[0]!, number: 99, ticketNumber: 99, shown: 1 }),
    caughtBy: /law 2: number 1, whose turn was not over, became 99/,
  },
  {
    name: "a serving number that falls",
    plant: ({ trace }) => Object.assign(trace.statements.at(-1)!, { serving: 3 }),
    caughtBy: /law 2: statement 10 serves 3 after 20/,
  },
  {
    name: "a statement number used twice",
    plant: ({ trace }) =>
      trace.statements.push({ ...trace.statements[0]!, source: "edge 1", digest: "other" }),
    caughtBy: /law 2: statement 0 of edge 1 says something else/,
  },
  {
    name: "a mint that goes back to an older statement",
    plant: ({ trace }) =>
      trace.statements.push({
        ...trace.statements[2]!,
        source: "mint 2",
        askedAt: STARTED + 5_500,
      }),
    caughtBy: /law 2: the mints shows statement 2 after 5/,
  },
  {
    name: "a slot that moves",
    plant: ({ trace }) =>
      trace.listed([{ base: 4, count: 1, from: opens(4) + 1, until: opens(5) }]),
    caughtBy: /law 2: the slot of 4 moved by 1 ms/,
  },
  {
    name: "a burst of slots",
    plant: ({ trace }) =>
      trace.listed([{ base: 21, count: 5, from: opens(21), until: opens(21) + 250 }]),
    caughtBy: /law 3: .* slots beyond the overdrive/,
  },
  {
    name: "slots beyond the rate when nothing lapsed",
    plant: ({ trace }) =>
      trace.listed([{ base: 21, count: 10, from: opens(21), until: opens(21) + 800 }]),
    caughtBy: /law 3: .* slots beyond the rate, 0 lapsed/,
  },
  {
    name: "slots that make up for a time in which no mint ran",
    plant: ({ trace }) => {
      const since = STARTED - 4_000;
      const stood = { from: since, since, until: opens(18) + 1 };
      trace.suffered.push({ parts: ["mint 1", "mint 2"], ...stood });
    },
    caughtBy: /law 3: 7 slots opened beyond the horizon of mints that all stood still/,
  },
  {
    name: "slots that are committed after they open",
    plant: ({ trace }) => {
      const later = { signedAt: STARTED + 20_000, committed: FANS, seq: 11 };
      trace.statements.push({ ...trace.statements.at(-1)!, ...later });
      trace.listed([{ base: 21, count: 10, from: STARTED + 12_000, until: STARTED + 13_000 }]);
    },
    caughtBy: /law 3: a slot behind 20 opened 8000 ms before statement 11/,
  },
  {
    name: "a number with two slots in the books",
    plant: ({ books }) => {
      books.segments = [...books.segments, { base: 20, count: 1, from: 0, until: 100 }];
    },
    caughtBy: /law 3: number 20 has two slots/,
  },
  {
    name: "an admission that buys twice",
    plant: ({ trace }) =>
      trace.bought.push({ ...trace.bought[0]!, key: "another", orderId: "another" }),
    caughtBy: /law 4: admission jti 1 has 2 different orders/,
  },
  {
    name: "an order that was answered and is gone",
    plant: ({ books }) => {
      books.orders = books.orders.slice(1);
    },
    caughtBy: /law 4: order order 1 was answered and is not in the books/,
  },
  {
    name: "an order of which nobody heard",
    plant: ({ trace }) => void trace.bought.shift(),
    caughtBy: /law 4: order order 1 of 1 is nobody's/,
  },
  {
    name: "an order more than there is",
    plant: ({ books }) => {
      books.stock = [{ sku: "seat", total: FANS - 1, sold: FANS }];
    },
    caughtBy: /law 4: 20 of seat were sold, and there were 19/,
  },
  {
    name: "an admission that is spent without an order",
    plant: ({ trace }) =>
      change(trace.bought, { status: 409, code: "already-spent", orderId: undefined }),
    caughtBy: /law 4: admission jti 1 is spent, and nobody bought with it/,
  },
  {
    name: "a claim that was answered and is not stored",
    plant: ({ books }) => {
      books.claims = books.claims.slice(1);
    },
    caughtBy: /the claim of 1 was answered and is not stored/,
  },
  {
    name: "a location that refuses a good admission",
    plant: ({ trace }) => change(trace.entered, { status: 429 }),
    caughtBy: /law 5: edge 1 answers 429 to the good admission of 1/,
  },
  {
    name: "a location that lets in a forged one",
    plant: ({ trace }) => change(trace.entered, { forged: true }),
    caughtBy: /law 5: edge 1 let in a forged admission of 1/,
  },
  {
    name: "a purchase API that refuses a good admission",
    plant: ({ trace }) =>
      trace.bought.push({ ...trace.bought[0]!, status: 401, code: "admission-required" }),
    caughtBy: /law 5: admission-required for a purchase with the good admission of 1/,
  },
  {
    name: "a location that lets nobody in while no mint answers",
    plant: ({ trace }) => Object.assign(trace.entered[15]!, { status: 429 }),
    caughtBy: /law 9: while no mint answers, edge 1 answers 429 to the good admission of 16/,
  },
  {
    name: "mints of which none leads, though nothing is done to one of them",
    plant: ({ trace }) => {
      Object.assign(trace.statements.at(-1)!, { askedAt: STARTED + 55_000 });
      const until = STARTED + 55_000;
      const [first, second] = [STARTED + 8_000, STARTED + 10_000];
      trace.suffered.push({ parts: ["mint 2"], from: first, since: first, until });
      const restarted = { from: second, since: second, until: STARTED + 20_000 };
      trace.suffered.push({ parts: ["database"], ...restarted });
    },
    caughtBy:
      /^liveness: nothing was done to mint 1 and the database for 35000 ms, and no mint led$/,
  },
  {
    name: "a fan who waits for ever",
    plant: ({ trace }) => change(trace.endings, { ending: "still-waits" }),
    caughtBy: /liveness: visitor 1 still-waits/,
  },
  {
    name: "a 500",
    plant: ({ trace }) => trace.count("claim internal"),
    caughtBy: /nobody should hear this: claim internal/,
  },
  {
    name: "a process that died of nothing that we did",
    plant: ({ trace }) => trace.troubles.push("mint 1 ended by itself"),
    caughtBy: /mint 1 ended by itself/,
  },
];

describe("the checks over what clients saw", () => {
  it("find nothing in a good run, and see its silence", () => {
    const { trace, books } = goodRun();
    const { violations, checked } = judge(trace, books, TERMS);
    expect(violations).toEqual([]);
    expect(checked).toMatchObject({ joins: FANS, slots: FANS, orders: FANS });
    expect(checked).toMatchObject({ "times without a mint": 1, "fans who went in meanwhile": 9 });
  });

  it.for(FAULTS)("catch $name", ({ plant, caughtBy }) => {
    const run = goodRun();
    plant(run);
    expect(judge(run.trace, run.books, TERMS).violations.join("\n")).toMatch(caughtBy);
  });

  it("allow what lapsed to be given back, and no more than that", () => {
    const { trace, books } = goodRun();
    // Five never claimed; after their claim windows five slots more than the rate open.
    trace.claimed.splice(0, 5);
    const from = opens(FANS) + 30_000;
    const burst = { base: 21, count: 12, from, until: from + 800 };
    trace.listed([burst]);
    books.segments = [...books.segments, burst];
    const drip = (): readonly string[] =>
      judge(trace, books, TERMS).violations.filter((violation) => violation.startsWith("law 3"));
    expect(drip()).toEqual([]);
    const more = { base: 33, count: 9, from: from + 801, until: from + 1_402 };
    trace.listed([more]);
    expect(drip().join("\n")).toMatch(/slots beyond the rate, 5 lapsed/);
  });
});

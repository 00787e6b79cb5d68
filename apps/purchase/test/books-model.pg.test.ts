import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { LedgerOutcome } from "../src/ledger-types.ts";
import { type LedgerWorld, SKU, attemptOf, ledgerWorld } from "./ledger-world.ts";

/**
 * Random sequences of everything that can be done to one sku, beside a model of a few lines. After
 * every step the books are read: they must be the model's, and agree with themselves.
 */
let world: LedgerWorld;
beforeAll(async () => {
  world = await ledgerWorld();
});
afterAll(() => world.close());

const NOW = attemptOf(1).now;
const PER_PURCHASE_MAX = 4;

type Step =
  | {
      readonly do: "purchase" | "hold" | "spend";
      readonly fan: number;
      readonly admission: number;
      readonly key: number;
      readonly quantity: number;
    }
  | { readonly do: "confirm"; readonly hold: number; readonly payment: number }
  | { readonly do: "cancel" | "fail" | "extend" | "age"; readonly hold: number }
  | { readonly do: "sweep" }
  | { readonly do: "set"; readonly total: number; readonly perBuyerMax: number | null };

const someHold = fc.nat({ max: 7 });
const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom("purchase" as const, "hold" as const, "hold" as const, "spend" as const),
      fan: fc.integer({ min: 1, max: 4 }),
      admission: fc.integer({ min: 1, max: 3 }),
      key: fc.integer({ min: 1, max: 5 }),
      quantity: fc.integer({ min: 1, max: PER_PURCHASE_MAX + 1 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("confirm" as const),
      hold: someHold,
      payment: fc.integer({ min: 1, max: 2 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom("cancel" as const, "fail" as const, "extend" as const, "age" as const),
      hold: someHold,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("sweep" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("set" as const),
      total: fc.integer({ min: 0, max: 14 }),
      perBuyerMax: fc.option(fc.integer({ min: 1, max: 6 })),
    }),
  },
);

interface ModelHold {
  readonly holdId: string;
  readonly fan: number;
  readonly jti: string;
  readonly quantity: number;
  readonly counted: boolean;
  state: string;
  over: boolean;
  extended: boolean;
  payment?: number;
}

/** Two of four fans are the same buyer. */
const buyerOf = (fan: number): string => `buyer-${Math.min(fan, 3)}`;

class Model {
  total = 8;
  perBuyerMax: number | null = null;
  sold = 0;
  readonly holds: ModelHold[] = [];
  readonly totals = new Map<string, number>();
  readonly keys = new Map<string, { text: string; kind: string }>();
  readonly spent = new Map<string, ModelHold | undefined>();

  get held(): number {
    return this.holds.reduce(
      (sum, { state, quantity }) => sum + (state === "held" ? quantity : 0),
      0,
    );
  }

  holdAt(index: number): ModelHold | undefined {
    return this.holds.length === 0 ? undefined : this.holds[index % this.holds.length];
  }

  /** What a step is answered. Changes the model as the step should change the books. */
  take(step: Step, name: (fan: number, admission: number) => string, holdId: string): unknown {
    if (step.do === "set") return this.#set(step);
    if (step.do === "sweep") {
      for (const hold of this.holds)
        if (hold.state === "held" && hold.over) this.#end(hold, "expired");
      return undefined;
    }
    if ("fan" in step) return this.#spend(step, name(step.fan, step.admission), holdId);
    const hold = this.holdAt(step.hold);
    if (hold === undefined) return undefined;
    const live = hold.state === "held" && !hold.over;
    const refusal =
      hold.state === "expired" || (hold.state === "held" && hold.over)
        ? { kind: "over" }
        : { kind: "conflict", state: hold.state };
    switch (step.do) {
      case "age":
        if (hold.state === "held") hold.over = true;
        return undefined;
      case "extend":
        if (!live) return refusal;
        hold.extended = true;
        return { kind: "done" };
      case "cancel":
        if (live) this.#end(hold, "cancelled");
        return hold.state === "cancelled" ? { kind: "done" } : refusal;
      case "fail":
        if (hold.state === "confirmed") return refusal;
        this.#end(hold, "failed");
        if (this.spent.get(hold.jti) === hold) this.spent.delete(hold.jti);
        return { kind: "done" };
      case "confirm":
        if (live) {
          Object.assign(hold, { state: "confirmed", payment: step.payment });
          this.sold += hold.quantity;
        }
        return hold.payment === step.payment ? { kind: "confirmed" } : refusal;
    }
  }

  #set({ total, perBuyerMax }: { total: number; perBuyerMax: number | null }): unknown {
    if (total < this.sold + this.held) return "refused";
    Object.assign(this, { total, perBuyerMax });
    return "set";
  }

  #end(hold: ModelHold, state: string): void {
    const buyer = buyerOf(hold.fan);
    if (hold.state === "held" && hold.counted) {
      this.totals.set(buyer, (this.totals.get(buyer) ?? 0) - hold.quantity);
    }
    hold.state = state;
  }

  #spend(
    step: { do: "purchase" | "hold" | "spend"; fan: number; key: number; quantity: number },
    jti: string,
    holdId: string,
  ): unknown {
    const { fan, quantity } = step;
    const text = step.do === "spend" ? "spend" : `${step.do}:${quantity}`;
    const kind = { purchase: "bought", hold: "held", spend: "spent" }[step.do];
    const known = this.keys.get(`${fan}/${step.key}`);
    if (known !== undefined) {
      return { kind: known.text === text ? known.kind : "idempotency-mismatch" };
    }
    if (this.spent.has(jti)) {
      const hold = this.spent.get(jti);
      const shown = hold?.state === "held" && !hold.over ? { holdId: hold.holdId } : {};
      return { kind: "already-spent", ...shown };
    }
    const buyer = buyerOf(fan);
    const had = this.totals.get(buyer) ?? 0;
    const counted = this.perBuyerMax !== null;
    if (step.do !== "spend") {
      if (quantity > PER_PURCHASE_MAX) return { kind: "over-limit" };
      if (quantity > this.total - this.sold - this.held) return { kind: "sold-out" };
      if (this.perBuyerMax !== null && had + quantity > this.perBuyerMax) {
        return { kind: "buyer-limit" };
      }
      if (counted) this.totals.set(buyer, had + quantity);
    }
    const hold: ModelHold = {
      ...{ holdId, fan, jti, quantity, counted },
      ...{ state: "held", over: false, extended: false },
    };
    if (step.do === "hold") this.holds.push(hold);
    if (step.do === "purchase") this.sold += quantity;
    this.spent.set(jti, step.do === "hold" ? hold : undefined);
    this.keys.set(`${fan}/${step.key}`, { text, kind });
    return { kind };
  }
}

interface Run {
  readonly event: string;
  readonly name: (fan: number, admission: number) => string;
  holdIdAt(index: number): string | undefined;
}

async function perform(
  run: Run,
  step: Step,
  holdId: string,
  { ledger, holds }: Pick<LedgerWorld, "ledger" | "holds"> = world,
): Promise<unknown> {
  const { event } = run;
  if (step.do === "set") {
    const { total, perBuyerMax } = step;
    const change = { event, perBuyerMax, perPurchaseMax: PER_PURCHASE_MAX };
    return (await world.put(total, change)) === undefined ? "refused" : "set";
  }
  if (step.do === "sweep") {
    await holds.sweep();
    return undefined;
  }
  if ("fan" in step) {
    const attempt = attemptOf(step.fan, {
      ...{ event, holdId, quantity: step.quantity, idempotencyKey: `${step.key}` },
      jti: run.name(step.fan, step.admission),
      buyer: buyerOf(step.fan),
    });
    return kindOf(await ledger[step.do](attempt));
  }
  const chosen = run.holdIdAt(step.hold);
  if (chosen === undefined) return undefined;
  const name = { event, holdId: chosen };
  switch (step.do) {
    case "age":
      await world.database.sql`
        update holds set expires_at = clock_timestamp() - interval '1 second'
         where hold_id = ${chosen} and state = 'held'`;
      return undefined;
    case "extend": {
      const hold = await holds.get({ ...name, by: { kind: "shop" } });
      const visitor = `visitor-${hold?.number}`;
      return short(await holds.extend({ ...name, visitor }));
    }
    case "cancel":
      return short(await holds.cancel({ ...name, by: { kind: "shop" } }));
    case "fail":
      return short(await holds.fail(name));
    case "confirm": {
      const order = { paymentReference: `${step.payment}`, orderId: `of-${chosen}`, now: NOW };
      return short(await holds.confirm({ ...name, ...order }));
    }
  }
}

function kindOf(outcome: LedgerOutcome): unknown {
  const { kind } = outcome;
  return kind === "already-spent" && outcome.holdId !== undefined
    ? { kind, holdId: outcome.holdId }
    : { kind };
}

function short(outcome: { kind: string; state?: string }): unknown {
  const { kind, state } = outcome;
  return state === undefined ? { kind } : { kind, state };
}

interface Books {
  readonly total: number;
  readonly sold: number;
  readonly held: number;
  readonly totals: Record<string, number>;
}

/** Reads the books and holds them against themselves. */
async function audit(event: string): Promise<Books> {
  const [row] = await world.database.sql<
    (Books & { ordered: number; live: number; twice: number; unspent: number; counted: number })[]
  >`
    select total, sold, held,
      (select coalesce(sum(quantity), 0)::int from orders where orders.event = stock.event) as ordered,
      (select coalesce(sum(quantity), 0)::int from holds
        where holds.event = stock.event and state = 'held') as live,
      (select count(*)::int from (
         select jti from (
           select jti from orders where event = stock.event
           union all select jti from holds where event = stock.event and state = 'held') as used
          group by jti having count(*) > 1) as twice) as twice,
      (select count(*)::int from (
         select jti from orders where event = stock.event
         union all select jti from holds where event = stock.event and state <> 'failed') as used
        where not exists (select from spends where spends.jti = used.jti)) as unspent,
      (select coalesce(sum(quantity), 0)::int from buyer_totals
        where buyer_totals.event = stock.event) as counted,
      (select coalesce(jsonb_object_agg(buyer, quantity) filter (where quantity > 0), '{}')
         from buyer_totals where buyer_totals.event = stock.event) as totals
      from stock where event = ${event} and sku = ${SKU}`;
  if (row === undefined) throw new Error("no stock");
  const { total, sold, held, totals } = row;
  expect(row.ordered).toBe(sold);
  expect(row.live).toBe(held);
  expect(sold + held).toBeLessThanOrEqual(total);
  expect([row.twice, row.unspent]).toEqual([0, 0]);
  expect(row.counted).toBeLessThanOrEqual(sold + held);
  return { total, sold, held, totals };
}

let rounds = 0;
async function begin(): Promise<{ event: string; name: Run["name"] }> {
  const event = `round-${++rounds}`;
  await world.put(8, { event, perPurchaseMax: PER_PURCHASE_MAX });
  return { event, name: (fan, admission) => `${event}-${fan}-${admission}` };
}

test("any sequence of operations is answered and booked as the model says, step by step", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(stepArbitrary, { minLength: 5, maxLength: 60 }), async (steps) => {
      const model = new Model();
      const { event, name } = await begin();
      const holdIdAt = (index: number) => model.holdAt(index)?.holdId;
      for (const [index, step] of steps.entries()) {
        const holdId = `${event}-hold-${index}`;
        const answer = await perform({ event, name, holdIdAt }, step, holdId);
        expect(answer).toEqual(model.take(step, name, holdId));
        const totals = Object.fromEntries([...model.totals].filter(([, quantity]) => quantity > 0));
        const { total, sold, held } = model;
        expect(await audit(event)).toEqual({ total, sold, held, totals });
      }
    }),
    { numRuns: 60 },
  );
});

test("any operations at once, on two instances, leave books that agree with themselves", async () => {
  const other = world.another();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(stepArbitrary, { minLength: 2, maxLength: 16 }), {
        minLength: 1,
        maxLength: 6,
      }),
      async (batches) => {
        const { event, name } = await begin();
        const made: string[] = [];
        const holdIdAt = (index: number) => made[index % made.length];
        for (const [batch, steps] of batches.entries()) {
          const answers = await Promise.all(
            steps.map(async (step, index) => {
              const holdId = `${event}-hold-${batch}-${index}`;
              const where = index % 2 === 0 ? world : other;
              const answer = await perform({ event, name, holdIdAt }, step, holdId, where);
              return { answer, holdId, made: step.do === "hold" };
            }),
          );
          for (const each of answers) {
            expect(each.answer).not.toEqual({ kind: "contended" });
            expect(each.answer).not.toEqual({ kind: "in-progress" });
            if (each.made) made.push(each.holdId);
          }
          await audit(event);
        }
      },
    ),
    { numRuns: 60 },
  );
});

import { AppError } from "@vestibule/kernel/app-error";
import { silentLog } from "@vestibule/service/log";
import type { InventoryGate, Reservation } from "@vestibule/valkey/inventory-gate";
import { StoreAwayError } from "@vestibule/valkey/token-bucket";
import { describe, expect, test } from "vitest";
import { createGateKeeper } from "../src/gate-keeper.ts";
import type { LedgerOutcome } from "../src/ledger-types.ts";
import { SEAT } from "./gate-world.ts";

const WISH = { ...SEAT, jti: "mine", quantity: 2 };
const order = { orderId: "o", ...SEAT, quantity: 2, number: 1, purchasedAt: 0 };
const hold = { holdId: "h", ...SEAT, quantity: 2, number: 1, heldAt: 0, expiresAt: 1 };

/** A repair that only listens. */
function ears(heard: (what: string) => void = () => {}, perPurchaseMax = 10) {
  return {
    ask: () => heard("repair"),
    perPurchaseMax: async (): Promise<number | undefined> => perPurchaseMax,
    look: () => Promise.reject(new Error("nobody should look")),
    noteTrouble: () => heard("trouble"),
    isTroubled: () => false,
  };
}
const ledger = { standing: () => Promise.reject(new Error("nobody should ask")) };

const OUTCOMES = {
  bought: { kind: "bought", order, jti: "mine", left: 3 },
  held: { kind: "held", hold: { ...hold, state: "held" }, jti: "mine", left: 3 },
  "bought before": { kind: "bought", order, jti: "mine" },
  "bought with another": { kind: "bought", order, jti: "other" },
  "sold-out": { kind: "sold-out" },
  "already-spent": { kind: "already-spent" },
  "buyer-limit": { kind: "buyer-limit" },
  contended: { kind: "contended" },
  "in-progress": { kind: "in-progress" },
  "unknown-sku": { kind: "unknown-sku" },
  lost: "lost",
} as const satisfies Record<string, LedgerOutcome | "lost">;

async function settledAfter(
  reservation: Reservation | "away",
  outcome: LedgerOutcome | "lost",
): Promise<string> {
  const told: string[] = [];
  const gate: Pick<InventoryGate, "reserve" | "settle" | "remember"> = {
    reserve: async () => {
      if (reservation === "away") throw new StoreAwayError("away");
      return reservation;
    },
    settle: async ({ sold }) => void told.push(sold === 0 ? "not-sold" : `sold ${sold}`),
    remember: async () => void told.push("earlier"),
  };
  const repair = ears((what) => void told.push(what));
  const keeper = createGateKeeper(gate as InventoryGate, { repair, ledger, log: silentLog });
  keeper.leave(await keeper.enter(WISH), outcome);
  await keeper.idle();
  return told.toSorted().join(" + ") || "nothing";
}

describe.each([
  // Known and new: an admission that was unspent again, or a lease that was given back. Perhaps not counted off.
  [
    "bought",
    {
      leased: "sold 2",
      known: "repair + sold 2",
      unknown: "repair + sold 2",
      away: "repair + sold 2",
    },
  ],
  [
    "held",
    {
      leased: "sold 2",
      known: "repair + sold 2",
      unknown: "repair + sold 2",
      away: "repair + sold 2",
    },
  ],
  // Counted off a second time, because the gate had forgotten the first.
  ["bought before", { leased: "earlier + repair", known: "earlier", unknown: "earlier + repair" }],
  ["bought with another", { leased: "not-sold", known: "nothing", unknown: "not-sold + repair" }],
  ["sold-out", { leased: "not-sold + repair", known: "nothing", unknown: "not-sold + repair" }],
  ["already-spent", { leased: "not-sold", known: "nothing" }],
  ["buyer-limit", { leased: "not-sold", known: "nothing" }],
  ["contended", { leased: "not-sold", known: "nothing" }],
  // Another request with the same key may buy yet, or the answer was lost: time tells.
  ["in-progress", { leased: "repair", known: "repair", unknown: "repair", away: "repair" }],
  [
    "lost",
    {
      leased: "repair + trouble",
      known: "repair + trouble",
      unknown: "repair + trouble",
      away: "repair + trouble",
    },
  ],
  // Anybody can make up a sku: that must not make work.
  ["unknown-sku", { leased: "not-sold", known: "nothing", unknown: "not-sold", away: "not-sold" }],
] as const)("PostgreSQL says %s", (outcome, expected) => {
  test.each(Object.entries(expected))("after the gate said %s: %s", async (kind, told) => {
    const reservation = kind === "away" ? kind : ({ kind } as Reservation);
    expect(await settledAfter(reservation, OUTCOMES[outcome])).toBe(told);
  });
});

test.each([
  ["it is away", new StoreAwayError("away")],
  ["it breaks", new Error("a fault of ours")],
])("nobody is refused for want of a gate: %s", async (_name, error) => {
  const gate = { reserve: () => Promise.reject(error) } as unknown as InventoryGate;
  const keeper = createGateKeeper(gate, { repair: ears(), ledger, log: silentLog });
  expect((await keeper.enter(WISH)).kind).toBe("away");
});

test("a settlement that fails asks for a repair, and nobody hears of it", async () => {
  let asked = 0;
  const gate = {
    reserve: async () => ({ kind: "leased" }),
    settle: () => Promise.reject(new StoreAwayError("away")),
  } as unknown as InventoryGate;
  const repair = ears(() => (asked += 1));
  const keeper = createGateKeeper(gate, { repair, ledger, log: silentLog });
  keeper.leave(await keeper.enter(WISH), OUTCOMES.bought);
  await keeper.idle();
  expect(asked).toBe(1);
});

test.each([
  [1, 1, { kind: "sold-out" }],
  [2, 10, { kind: "sold-out" }],
  [2, 1, { kind: "over-limit", perPurchaseMax: 1 }],
])("sold out for %d where one purchase may have %d", async (quantity, most, pass) => {
  const gate = { reserve: async () => ({ kind: "sold-out", sure: true }) };
  const repair = ears(() => {}, most);
  const keeper = createGateKeeper(gate as unknown as InventoryGate, {
    repair,
    ledger,
    log: silentLog,
  });
  expect(await keeper.enter({ ...WISH, quantity })).toEqual(pass);
});

test("nobody sells such a thing: nothing of it reaches the store", async () => {
  // No method at all: whatever is called on it fails.
  const keeper = createGateKeeper({} as InventoryGate, {
    repair: { ...ears(), perPurchaseMax: async () => undefined },
    ledger,
    log: silentLog,
  });
  const pass = await keeper.enter(WISH);
  expect(pass).toEqual({ kind: "off" });
  keeper.leave(pass, OUTCOMES["unknown-sku"]);
  await keeper.idle();
});

test("PostgreSQL is away and the sku new here: said at once, instead of asking it again for the purchase", async () => {
  const keeper = createGateKeeper({} as InventoryGate, {
    repair: { ...ears(), perPurchaseMax: () => Promise.reject(new AppError("unavailable")) },
    ledger,
    log: silentLog,
  });
  await expect(keeper.enter(WISH)).rejects.toMatchObject({ code: "unavailable" });
});

describe("a gate that may have forgotten buyers asks before it refuses", () => {
  test.each([
    ["somebody who did not buy, of nothing", { left: 1, spent: [] }, "sold-out"],
    ["a buyer", { left: 0, spent: [{ jti: "mine", quantity: 1 }] }, "doubted"],
    ["somebody for whom enough is left", { left: 2, spent: [] }, "doubted"],
  ])("%s", async (_name, { left, spent }, kind) => {
    const gate = {
      reserve: async ({ quantity }: { quantity: number }) =>
        quantity === 0 ? { kind: "leased" } : { kind: "sold-out", sure: false },
      settle: async ({ sold }: { sold: number }) => void told.push(`sold ${sold}`),
    };
    const standing = async () => ({ left, spent, taken: 5, perPurchaseMax: 10 });
    const told: string[] = [];
    const keeper = createGateKeeper(gate as never, {
      repair: ears((what) => void told.push(what)),
      ledger: { standing },
      log: silentLog,
    });
    const pass = await keeper.enter(WISH);
    expect(pass.kind).toBe(kind);
    // What they buy is told to the gate, or it would refuse them their own order the next time.
    keeper.leave(pass, OUTCOMES.bought);
    await keeper.idle();
    expect(told).toEqual(kind === "doubted" ? ["repair", "sold 2"] : []);
  });
});

import { describe, expect, test } from "vitest";
import type { LedgerOutcome } from "../src/ledger-types.ts";
import { createSameAdmission } from "../src/same-admission.ts";
import { SEAT } from "./gate-world.ts";
import { many } from "./ledger-world.ts";

const order = { orderId: "o", ...SEAT, quantity: 1, number: 1, purchasedAt: 0 };
const bought: LedgerOutcome = { kind: "bought", order, jti: "a", left: 3 };
const holdOf = (state: "held" | "cancelled" | "failed"): LedgerOutcome => ({
  kind: "held",
  hold: { holdId: "h", ...SEAT, quantity: 1, number: 1, state, heldAt: 0, expiresAt: 1 },
  jti: "a",
});
const soldOut: LedgerOutcome = { kind: "sold-out" };

/** Attempts that end when a test says how. */
function attempts() {
  const same = createSameAdmission();
  const made: PromiseWithResolvers<LedgerOutcome>[] = [];
  const ask = (jti: string, idempotencyKey: string, request = "one seat") =>
    same.join({ jti, idempotencyKey, text: `${idempotencyKey} ${request}` }, () => {
      const attempt = Promise.withResolvers<LedgerOutcome>();
      made.push(attempt);
      return attempt.promise;
    });
  return { ask, made };
}

describe("while one attempt is under way", () => {
  test("equal ones are made once and hear the same, whatever it is", async () => {
    for (const outcome of [bought, soldOut, holdOf("held")]) {
      const { ask, made } = attempts();
      const answers = many(50, () => ask("a", "key 1"));
      made[0]?.resolve(outcome);
      for (const answer of await Promise.all(answers)) expect(answer).toBe(outcome);
      expect(made).toHaveLength(1);
    }
  });

  test("equal ones fail with it, and the next is made again", async () => {
    const { ask, made } = attempts();
    const answers = [ask("a", "key 1"), ask("a", "key 1")];
    made[0]?.reject(new Error("away"));
    for (const answer of await Promise.allSettled(answers)) expect(answer.status).toBe("rejected");
    void ask("a", "key 1");
    expect(made).toHaveLength(2);
  });

  test.each([
    ["bought", bought, { kind: "already-spent" }],
    ["held", holdOf("held"), { kind: "already-spent", holdId: "h" }],
  ])("others with the same admission are told when it is %s", async (_name, outcome, told) => {
    const { ask, made } = attempts();
    void ask("a", "key 1");
    const others = many(50, (index) => ask("a", `other ${index}`));
    made[0]?.resolve(outcome);
    for (const other of await Promise.all(others)) expect(other).toEqual(told);
    expect(made).toHaveLength(1);
  });

  test.each([
    ["it was refused", soldOut],
    ["it was a hold that is over", holdOf("cancelled")],
    ["it was a hold that failed, so that the admission is unspent", holdOf("failed")],
    ["it failed", undefined],
  ])("others are made when %s", async (_name, outcome) => {
    const { ask, made } = attempts();
    const first = ask("a", "key 1").catch(() => "failed");
    const other = ask("a", "key 2");
    if (outcome === undefined) made[0]?.reject(new Error("away"));
    else made[0]?.resolve(outcome);
    await first;
    await expect.poll(() => made.length).toBe(2);
    made[1]?.resolve(bought);
    expect(await other).toBe(bought);
  });

  test("the same key for another request is the ledger's to judge", async () => {
    const { ask, made } = attempts();
    void ask("a", "key 1");
    const other = ask("a", "key 1", "two seats");
    made[0]?.resolve(bought);
    await expect.poll(() => made.length).toBe(2);
    made[1]?.resolve({ kind: "idempotency-mismatch" });
    expect(await other).toEqual({ kind: "idempotency-mismatch" });
  });

  test("another admission does not wait", async () => {
    const { ask, made } = attempts();
    void ask("a", "key 1");
    const other = ask("b", "key 1");
    made[1]?.resolve(soldOut);
    expect(await other).toBe(soldOut);
  });
});

test("afterwards nothing is remembered", async () => {
  const { ask, made } = attempts();
  const first = ask("a", "key 1");
  made[0]?.resolve(bought);
  await first;
  void ask("a", "key 1");
  void ask("a", "key 2");
  expect(made).toHaveLength(2); // the third waits for the second
});

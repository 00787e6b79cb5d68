import type { DripClaims } from "@vestibule/contracts/statements";
import { epochMs } from "@vestibule/kernel/units";
import { judgeAdmission } from "@vestibule/token/judge-admission";
import { signAdmission } from "@vestibule/token/sign";
import { expect, test } from "vitest";

import {
  EVENT,
  ISSUER,
  JWKS,
  LIFETIME_SECONDS,
  NBF,
  NOW,
  NUMBER,
  OTHER_VISITOR,
  SKEW_SECONDS,
  SUB,
  VISITOR,
  keyOne,
  keySetOf,
  keyTwo,
} from "./forge.ts";

const keys = await keySetOf(JWKS);
/** Without the key that signed. */
const older = await keySetOf({ keys: [keyTwo.publicJwk] });
const options = {
  ...{ keys, issuer: ISSUER, event: EVENT, lifetimeSeconds: LIFETIME_SECONDS },
  ...{ action: "purchase" as const, visitor: VISITOR, now: NOW, skewSeconds: SKEW_SECONDS },
};
const text = await signAdmission(keyOne.signingKey, {
  ...{ issuer: ISSUER, event: EVENT, sub: SUB, number: NUMBER, action: "purchase", iat: NBF },
  ...{ opensAt: epochMs(NBF * 1000 + 432), lifetimeSeconds: LIFETIME_SECONDS },
});
const OPENED = NBF * 1000;

/** What the mint says when it is asked, and what it was asked. */
function mint(
  says: { newer?: typeof keys; drip?: Partial<DripClaims>; byThen?: typeof keys } = {},
): Parameters<typeof judgeAdmission>[2] & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    newerKeys: () => {
      asked.push("keys");
      return Promise.resolve(says.newer);
    },
    keys: () => says.byThen,
    drip: () => {
      asked.push("drip");
      const drip = says.drip === undefined ? undefined : { cuts: [], ...says.drip };
      return Promise.resolve(drip as DripClaims | undefined);
    },
  };
}

test("a good admission, whatever the drip says of others, or when there is none", async () => {
  for (const drip of [
    undefined,
    {},
    { heldSince: OPENED + 1_000, heldScope: "entries" as const },
    { cuts: [{ since: OPENED + 1_000, until: OPENED + 9_000 }] },
  ]) {
    const judged = await judgeAdmission(text, options, mint(drip === undefined ? {} : { drip }));
    expect(judged).toMatchObject({ ok: true, value: { number: NUMBER, sub: SUB } });
  }
});

test("an unknown key is asked for once, and only the newer set is tried", async () => {
  const answers = [
    [keys, true],
    [older, false],
    [undefined, false],
  ] as const;
  for (const [newer, isGood] of answers) {
    const statements = mint(newer === undefined ? {} : { newer });
    const judged = await judgeAdmission(text, { ...options, keys: older }, statements);
    expect(judged.ok).toBe(isGood);
    expect(statements.asked).toEqual(isGood ? ["keys", "drip"] : ["keys"]);
    if (!judged.ok) expect(judged.refusal.reason).toBe("unknown-key");
  }
});

test("a key that the drip's news took away is refused in the same request", async () => {
  const judged = await judgeAdmission(text, options, mint({ byThen: older }));
  expect(judged).toMatchObject({ ok: false, refusal: { reason: "unknown-key" } });
  expect((await judgeAdmission(text, options, mint({ byThen: keys }))).ok).toBe(true);
});

test("of what is refused by itself nothing is asked", async () => {
  for (const [change, reason] of [
    [{ visitor: OTHER_VISITOR }, "wrong-visitor"],
    [{ event: "another" }, "wrong-audience"],
    [{ now: epochMs(NOW + 86_400_000) }, "over"],
  ] as const) {
    const statements = mint({ newer: keys, drip: {} });
    const judged = await judgeAdmission(text, { ...options, ...change }, statements);
    expect(judged).toMatchObject({ ok: false, refusal: { reason } });
    expect(statements.asked).toEqual([]);
  }
});

test.each([
  ["held for all", { heldSince: OPENED + 60_000, heldScope: "all" }, "held"],
  ["held before its slot opened", { heldSince: OPENED - 1_000, heldScope: "entries" }, "held"],
  [
    "cut by a hold that is over",
    { cuts: [{ since: OPENED - 9_000, until: OPENED + 9_000 }] },
    "cut",
  ],
] as const)("%s", async (_what, drip, reason) => {
  const judged = await judgeAdmission(text, options, mint({ drip: drip as Partial<DripClaims> }));
  expect(judged).toMatchObject({ ok: false, refusal: { reason } });
});

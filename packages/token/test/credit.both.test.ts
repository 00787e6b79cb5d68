import { AssertionError } from "@vestibule/kernel/assert";
import { addMs, epochMs, epochSeconds, ticketNumber } from "@vestibule/kernel/units";
import { admissionId } from "@vestibule/token/admission-id";
import { signAdmission, signTicket } from "@vestibule/token/sign";
import { type CreditClaims, signCredit } from "@vestibule/token/sign-credit";
import { verifyAdmission } from "@vestibule/token/verify-admission";
import { verifyCredit } from "@vestibule/token/verify-credit";
import type { ShownOptions } from "@vestibule/token/verify-shown";
import { verifyTicket } from "@vestibule/token/verify-ticket";
import { compactVerify, decodeProtectedHeader, importJWK } from "jose";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

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
const options: ShownOptions = {
  keys,
  issuer: ISSUER,
  event: EVENT,
  visitor: VISITOR,
  now: NOW,
  skewSeconds: SKEW_SECONDS,
};
const claims: CreditClaims = {
  issuer: ISSUER,
  event: EVENT,
  sub: SUB,
  number: NUMBER,
  slot: NBF,
  iat: epochSeconds(NBF + 45),
};
const DAY_MS = 86_400_000;

test("a credit comes back as it was meant, whatever is in it", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
      fc.integer({ min: 0, max: 4_000_000_000 }),
      async (n, slot) => {
        const credit = { ...claims, number: ticketNumber(n), slot: epochSeconds(slot) };
        const read = await verifyCredit(await signCredit(keyOne.signingKey, credit), options);
        expect(read).toEqual({
          ok: true,
          value: {
            ...{
              event: EVENT,
              number: n,
              slot,
              sub: SUB,
              jti: admissionId(EVENT, ticketNumber(n)),
            },
            ...{ iat: NBF + 45, exp: NBF + 45 + 86_400, kid: keyOne.signingKey.kid },
          },
        });
      },
    ),
  );
});

test("it names the admission that could not be used, and jose verifies it under its explicit typ", async () => {
  const credit = await signCredit(keyOne.signingKey, claims);
  const jwk = await importJWK({ ...keyOne.publicJwk }, "Ed25519");
  const { payload } = await compactVerify(credit, jwk);
  expect(decodeProtectedHeader(credit)).toEqual({
    alg: "Ed25519",
    typ: "vst-credit+jwt",
    kid: keyOne.publicJwk.kid,
  });
  expect(JSON.parse(new TextDecoder().decode(payload))).toMatchObject({
    jti: admissionId(EVENT, NUMBER),
    slot: NBF,
  });
});

test.each([
  ["a sub that is no hash", { sub: "x" }],
  ["number 0", { number: 0 as never }],
  ["half a second", { slot: (NBF + 0.5) as never }],
  ["no moment", { iat: Number.NaN as never }],
])("nothing is signed with %s", async (_name, change) => {
  await expect(signCredit(keyOne.signingKey, { ...claims, ...change })).rejects.toThrow(
    AssertionError,
  );
});

describe("TV-09: one key set, three kinds", () => {
  test("a credit is no admission and no ticket, and neither of them is a credit", async () => {
    const { issuer, event, sub, number } = claims;
    const key = keyOne.signingKey;
    const credit = await signCredit(key, claims);
    const admission = await signAdmission(key, {
      ...{ issuer, event, sub, number, action: "purchase", iat: NBF },
      ...{ opensAt: epochMs(NBF * 1000), lifetimeSeconds: LIFETIME_SECONDS },
    });
    const exp = epochSeconds(NBF + 86_400);
    const ticket = await signTicket(key, { issuer, event, sub, iat: NBF, exp, place: { number } });
    const wrong = { ok: false, refusal: { reason: "wrong-type" } };
    const admissionRules = { lifetimeSeconds: LIFETIME_SECONDS, action: "purchase" as const };
    expect(await verifyAdmission(credit, { ...options, ...admissionRules })).toEqual(wrong);
    expect(await verifyTicket(credit, options)).toEqual(wrong);
    expect(await verifyCredit(admission, options)).toEqual(wrong);
    expect(await verifyCredit(ticket, options)).toEqual(wrong);
  });

  test("a credit that any other key signed is refused, the mint's own keys included", async () => {
    const byMint = await signCredit(keyTwo.signingKey, claims);
    const creditKeys = await keySetOf({ keys: [keyOne.publicJwk] });
    expect(await verifyCredit(byMint, { ...options, keys: creditKeys })).toEqual({
      ok: false,
      refusal: { reason: "unknown-key" },
    });
  });
});

test("it is its visitor's alone, for its event alone", async () => {
  const credit = await signCredit(keyOne.signingKey, claims);
  const reasonOf = async (change: Partial<ShownOptions>) => {
    const read = await verifyCredit(credit, { ...options, ...change });
    return read.ok ? "ok" : read.refusal.reason;
  };
  expect(await reasonOf({})).toBe("ok");
  expect(await reasonOf({ visitor: OTHER_VISITOR })).toBe("wrong-visitor");
  expect(await reasonOf({ visitor: undefined })).toBe("wrong-visitor");
  expect(await reasonOf({ event: "other" })).toBe("wrong-audience");
  expect(await reasonOf({ issuer: `${ISSUER}/` })).toBe("wrong-issuer");
});

test("law 8: it is good for a day and the tolerance, to the millisecond", async () => {
  const credit = await signCredit(keyOne.signingKey, claims);
  const end = addMs(epochMs(claims.iat * 1000), DAY_MS + SKEW_SECONDS * 1000);
  const at = async (now: number) =>
    (await verifyCredit(credit, { ...options, now: epochMs(now) })).ok;
  expect(await at(end - 1)).toBe(true);
  expect(await at(end)).toBe(false);
  expect(await at((claims.iat - SKEW_SECONDS) * 1000)).toBe(true);
  expect(await at((claims.iat - SKEW_SECONDS) * 1000 - 1)).toBe(false);
});

test("whatever text is shown, it is refused and never thrown at; every change of a character counts", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary", maxLength: 3_000 }), async (text) => {
      expect((await verifyCredit(text, options)).ok).toBe(false);
    }),
  );
  const credit = await signCredit(keyOne.signingKey, claims);
  for (let at = 0; at < credit.length; at += 1) {
    const other = credit[at] === "A" ? "B" : "A";
    const changed = credit.slice(0, at) + other + credit.slice(at + 1);
    expect((await verifyCredit(changed, options)).ok).toBe(false);
  }
});

test("options that would let everything pass are no options", async () => {
  const credit = await signCredit(keyOne.signingKey, claims);
  for (const change of [
    { now: Number.NaN as never },
    { skewSeconds: Number.NaN },
    { skewSeconds: 61 },
  ])
    await expect(verifyCredit(credit, { ...options, ...change })).rejects.toThrow(AssertionError);
});

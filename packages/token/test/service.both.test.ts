import { AssertionError } from "@vestibule/kernel/assert";
import { addMs, epochMs, epochSeconds, ticketNumber } from "@vestibule/kernel/units";
import { signAdmission, signTicket } from "@vestibule/token/sign";
import { signCredit } from "@vestibule/token/sign-credit";
import { type ServiceClaims, signService } from "@vestibule/token/sign-service";
import { verifyAdmission } from "@vestibule/token/verify-admission";
import { verifyCredit } from "@vestibule/token/verify-credit";
import { type ServiceOptions, verifyService } from "@vestibule/token/verify-service";
import { verifyTicket } from "@vestibule/token/verify-ticket";
import { compactVerify, decodeProtectedHeader, importJWK } from "jose";
import fc from "fast-check";
import { expect, test } from "vitest";

import {
  EVENT,
  ISSUER,
  JWKS,
  LIFETIME_SECONDS,
  NBF,
  NOW,
  SKEW_SECONDS,
  SUB,
  VISITOR,
  keyOne,
  keySetOf,
} from "./forge.ts";

const keys = await keySetOf(JWKS);
const options: ServiceOptions = {
  ...{ keys, issuer: ISSUER, event: EVENT, now: NOW, skewSeconds: SKEW_SECONDS },
};
const claims: ServiceClaims = {
  ...{ issuer: ISSUER, event: EVENT, name: "payments", jti: SUB },
  ...{ iat: NBF, exp: epochSeconds(NBF + 3_600) },
};
const key = keyOne.signingKey;

test("a service's token comes back as it was meant, and jose verifies it under its explicit typ", async () => {
  const token = await signService(key, claims);
  expect(await verifyService(token, options)).toEqual({
    ok: true,
    value: {
      ...{ event: EVENT, name: "payments", jti: SUB, iat: NBF, exp: NBF + 3_600, kid: key.kid },
    },
  });
  const jwk = await importJWK({ ...keyOne.publicJwk }, "Ed25519");
  await compactVerify(token, jwk);
  expect(decodeProtectedHeader(token)).toEqual({
    ...{ alg: "Ed25519", typ: "vst-service+jwt", kid: keyOne.publicJwk.kid },
  });
});

test("TV-09: it is no admission, no ticket and no credit, and none of them is a service", async () => {
  const [issuer, event, sub] = [ISSUER, EVENT, SUB];
  const number = ticketNumber(1);
  const service = await signService(key, claims);
  const shown = { ...options, visitor: VISITOR };
  const asked = { ...shown, lifetimeSeconds: LIFETIME_SECONDS, action: "purchase" } as const;
  const wrong = { ok: false, refusal: { reason: "wrong-type" } };
  expect(await verifyAdmission(service, asked)).toEqual(wrong);
  expect(await verifyTicket(service, shown)).toEqual(wrong);
  expect(await verifyCredit(service, shown)).toEqual(wrong);
  const others = [
    await signAdmission(key, {
      ...{ issuer, event, sub, number, action: "purchase", iat: NBF },
      ...{ opensAt: epochMs(NBF * 1000), lifetimeSeconds: LIFETIME_SECONDS },
    }),
    await signTicket(key, { issuer, event, sub, iat: NBF, exp: claims.exp, place: { number } }),
    await signCredit(key, { issuer, event, sub, number, slot: NBF, iat: NBF }),
  ];
  for (const other of others) expect(await verifyService(other, options)).toEqual(wrong);
});

test("ADR 9: a key for admissions signs none, whoever has it", async () => {
  const token = await signService(key, claims);
  const reasonBy = async (use: string) => {
    const set = await keySetOf({ keys: [{ ...keyOne.publicJwk, vst_use: use } as never] });
    const read = await verifyService(token, { ...options, keys: set });
    return read.ok ? "ok" : read.refusal.reason;
  };
  expect(await reasonBy("line")).toBe("ok");
  expect(await reasonBy("admission")).toBe("wrong-type");
});

test("law 8: it is good until its end and the tolerance, to the millisecond", async () => {
  const token = await signService(key, claims);
  const end = addMs(epochMs(claims.exp * 1000), SKEW_SECONDS * 1000);
  const at = async (now: number) =>
    (await verifyService(token, { ...options, now: epochMs(now) })).ok;
  expect(await at(end - 1)).toBe(true);
  expect(await at(end)).toBe(false);
  expect(await at((claims.iat - SKEW_SECONDS) * 1000 - 1)).toBe(false);
});

test.each([
  ["a name that is none", { name: "Payments" }],
  ["a jti that is no hash", { jti: "x" }],
  ["no moment", { iat: Number.NaN as never }],
  ["an end that is its beginning", { exp: claims.iat }],
])("nothing is signed with %s", async (_name, change) => {
  await expect(signService(key, { ...claims, ...change })).rejects.toThrow(AssertionError);
});

test("whatever text is shown, it is refused and never thrown at; every change of a character counts", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary", maxLength: 3_000 }), async (text) => {
      expect((await verifyService(text, options)).ok).toBe(false);
    }),
  );
  const token = await signService(key, claims);
  for (let at = 0; at < token.length; at += 1) {
    const other = token[at] === "A" ? "B" : "A";
    const changed = token.slice(0, at) + other + token.slice(at + 1);
    expect((await verifyService(changed, options)).ok).toBe(false);
  }
});

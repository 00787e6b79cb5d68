import { AssertionError } from "@vestibule/kernel/assert";
import { addMs, epochMs, epochSeconds, ticketNumber } from "@vestibule/kernel/units";
import { admissionId } from "@vestibule/token/admission-id";
import {
  type AdmissionClaims,
  signAdmission,
  signDrip,
  signManifest,
  signTicket,
} from "@vestibule/token/sign";
import { type AdmissionOptions, verifyAdmission } from "@vestibule/token/verify-admission";
import { verifyDrip } from "@vestibule/token/verify-drip";
import { verifyManifest } from "@vestibule/token/verify-manifest";
import { verifyTicket } from "@vestibule/token/verify-ticket";
import { hashVisitor } from "@vestibule/token/visitor";
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
  forge,
  headerOf,
  keyOne,
  keySetOf,
  keyTwo,
  strangerKey,
} from "./forge.ts";

const keys = await keySetOf(JWKS);
const options: AdmissionOptions = {
  keys,
  issuer: ISSUER,
  event: EVENT,
  lifetimeSeconds: LIFETIME_SECONDS,
  action: "purchase",
  visitor: VISITOR,
  now: NOW,
  skewSeconds: SKEW_SECONDS,
};
const claims: AdmissionClaims = {
  issuer: ISSUER,
  event: EVENT,
  sub: SUB,
  number: NUMBER,
  action: "purchase",
  iat: NBF,
  opensAt: epochMs(NBF * 1000 + 432),
  lifetimeSeconds: LIFETIME_SECONDS,
};
const { signingKey } = keyOne;
const admission = await signAdmission(signingKey, claims);

const aVisitor = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) =>
  btoa(String.fromCharCode(...bytes))
    .replace(/\+/gu, "-")
    .replace(/\//gu, "_")
    .slice(0, 43),
);
const aSlug = fc.stringMatching(/^[a-z0-9]{1,20}(-[a-z0-9]{1,20}){0,2}$/u);
const aNumber = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }).map(ticketNumber);
const aLifetime = fc.integer({ min: 10, max: 86_400 });
const aSkew = fc.integer({ min: 0, max: 60 });

describe("what is signed", () => {
  test("an admission comes back as it was meant, whatever is in it", async () => {
    const drawn = fc.record({
      event: aSlug,
      visitor: aVisitor,
      number: aNumber,
      opensAt: fc.integer({ min: 0, max: 4e12 }).map(epochMs),
      lifetimeSeconds: aLifetime,
      skewSeconds: aSkew,
    });
    await fc.assert(
      fc.asyncProperty(drawn, async ({ visitor, opensAt, ...rest }) => {
        const nbf = Math.floor(opensAt / 1000);
        const sub = hashVisitor(visitor);
        const iat = epochSeconds(nbf);
        const signed = { issuer: ISSUER, sub, action: "purchase" as const, iat, opensAt, ...rest };
        const text = await signAdmission(signingKey, signed);
        const read = await verifyAdmission(text, { ...options, ...rest, visitor, now: opensAt });
        expect(read).toEqual({
          ok: true,
          value: {
            event: rest.event,
            number: rest.number,
            jti: admissionId(rest.event, rest.number),
            action: "purchase",
            sub,
            iat,
            nbf,
            exp: nbf + rest.lifetimeSeconds,
            kid: signingKey.kid,
          },
        });
      }),
    );
  });

  test.each([
    [{ number: NUMBER }, { kind: "numbered", number: NUMBER }],
    [{ drawIndex: 12 }, { kind: "draw", drawIndex: 12 }],
  ])("a ticket for %j comes back as it was meant", async (place, expected) => {
    const times = { iat: epochSeconds(NBF - 60), exp: epochSeconds(NBF + 9_000) };
    const text = await signTicket(signingKey, {
      issuer: ISSUER,
      event: EVENT,
      sub: SUB,
      place,
      ...times,
    });
    expect(await verifyTicket(text, options)).toEqual({
      ok: true,
      value: { event: EVENT, sub: SUB, kid: signingKey.kid, ...times, ...expected },
    });
  });

  test("statements come back as they were meant", async () => {
    const drip = {
      iss: ISSUER,
      aud: EVENT,
      iat: NBF,
      exp: NBF + 3_600,
      at: NOW,
      seq: 1,
      state: "open" as const,
      segments: [{ base: 1, count: 2, from: NOW, until: NOW + 2 }],
      serving: 0,
      committed: 2,
      skips: [] as [number, number][],
      issued: 2,
      rate: 60,
      notice: "Vor euch: <b>\u{1f600}",
      cuts: [],
      endsAt: NOW + 9_000,
    };
    const signed = await signDrip(signingKey, drip);
    expect(await verifyDrip(signed, options)).toEqual({ ok: true, value: drip });
    const manifest = { iss: ISSUER, iat: NBF, exp: NBF + 9_000, seq: 2, events: [] };
    const text = await signManifest(signingKey, manifest);
    expect(await verifyManifest(text, options)).toEqual({ ok: true, value: manifest });
  });

  test("every text is one that jose verifies too, under the header that design section 4 states", async () => {
    const key = await importJWK({ ...keyOne.publicJwk }, "Ed25519");
    await expect(compactVerify(admission, key)).resolves.toBeDefined();
    expect(decodeProtectedHeader(admission)).toEqual(headerOf("vst-admission+jwt"));
  });

  test("an admission minted again, later and by another key, is the same admission", async () => {
    const later = { ...claims, iat: epochSeconds(NBF + 59) };
    const one = await verifyAdmission(admission, options);
    const again = await verifyAdmission(await signAdmission(keyTwo.signingKey, later), options);
    if (!one.ok || !again.ok) throw new Error("refused");
    const { iat: _iat, kid: _kid, ...identity } = one.value;
    expect(again.value).toMatchObject(identity);
  });

  test("no two places share an identity", () => {
    const place = fc.tuple(aSlug, aNumber);
    fc.assert(
      fc.property(place, place, (one, other) => {
        const same = one[0] === other[0] && one[1] === other[1];
        expect(admissionId(...one) === admissionId(...other)).toBe(same);
      }),
    );
    expect(admissionId("demo", ticketNumber(1))).toBe(
      "RBouJE8sWbSuQJIy9KwWBvMeOxur409tnotSJklLXX8",
    );
  });

  test.each<[string, Partial<AdmissionClaims>]>([
    ["a sub that is no hash", { sub: "x" }],
    ["no lifetime", { lifetimeSeconds: 0 }],
    ["a lifetime that is no number", { lifetimeSeconds: Number.NaN }],
    ["a text that no verifier would look at", { event: "x".repeat(2_048) }],
  ])("an admission with %s is not signed", async (_name, change) => {
    await expect(signAdmission(signingKey, { ...claims, ...change })).rejects.toThrow(
      AssertionError,
    );
  });
});

describe("whatever text is shown", () => {
  test("it is refused, never thrown at", async () => {
    const [head = "", body = "", signature = ""] = admission.split(".");
    const piece = fc.oneof(
      fc.constantFrom(head, body, signature, "", ".", "..", "e30", "bnVsbA", "A".repeat(86)),
      fc.string({ unit: "binary", maxLength: 90 }),
      fc.jsonValue().map((value) => btoa(unescape(encodeURIComponent(JSON.stringify(value))))),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 5 }),
        fc.constantFrom(".", ""),
        async (pieces, dot) => {
          const text = pieces.join(dot);
          if (text === admission) return;
          for (const verify of [verifyAdmission, verifyTicket, verifyDrip, verifyManifest])
            expect((await verify(text, options)).ok).toBe(false);
        },
      ),
    );
  });

  test("every change of one character of an admission is refused", async () => {
    const chars = "ABCDwxyz0189-_.=+/ \n\u00c1".split("");
    for (let index = 0; index < admission.length; index += 1) {
      for (const char of [chars[index % chars.length]!, chars[(index * 7 + 3) % chars.length]!]) {
        if (char === admission[index]) continue;
        const text = admission.slice(0, index) + char + admission.slice(index + 1);
        expect((await verifyAdmission(text, options)).ok, `${char} at ${index}`).toBe(false);
      }
      const shorter = admission.slice(0, index) + admission.slice(index + 1);
      expect((await verifyAdmission(shorter, options)).ok, `without ${index}`).toBe(false);
    }
  });

  test("the last character of an admission has one spelling", async () => {
    for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") {
      const read = await verifyAdmission(admission.slice(0, -1) + char, options);
      expect(read.ok).toBe(char === admission.at(-1));
    }
  });

  test("a text of a megabyte is refused by its length", async () => {
    expect(await verifyAdmission(`${admission}.${"A".repeat(2 ** 20)}`, options)).toEqual({
      ok: false,
      refusal: { reason: "malformed" },
    });
  });
});

describe("options that would let everything pass", () => {
  test.each<[string, object]>([
    ["a tolerance of NaN", { skewSeconds: Number.NaN }],
    ["a tolerance beyond its bound", { skewSeconds: 61 }],
    ["a negative tolerance", { skewSeconds: -1 }],
    ["a clock of NaN", { now: Number.NaN }],
    ["a lifetime of NaN", { lifetimeSeconds: Number.NaN }],
    ["an endless lifetime", { lifetimeSeconds: Number.POSITIVE_INFINITY }],
  ])("%s stops the verifier", async (_name, change) => {
    await expect(verifyAdmission(admission, { ...options, ...change })).rejects.toThrow(
      AssertionError,
    );
  });
});

describe("a runtime whose verify raises", () => {
  test("KR-09: is told apart from a forged token", async () => {
    const [kid, key] = [...keys][0]!;
    // A private key cannot verify: the runtime raises, as one without the algorithm does.
    const broken = new Map([[kid, { ...key, key: signingKey.key }]]);
    expect(await verifyAdmission(admission, { ...options, keys: broken })).toEqual({
      ok: false,
      refusal: { reason: "cannot-verify" },
    });
  });
});

describe("law 5: two verifiers whose clocks are within the tolerance", () => {
  /** Moments around the boundaries as often as anywhere, by the mint's clock from the opening of the slot on. */
  const aMoment = (skew: number) =>
    fc.oneof(
      fc.integer({ min: -200_000, max: 800_000 }),
      ...[-2, -1, 0, 1, 2].flatMap((tolerances) =>
        [0, LIFETIME_SECONDS].map((at) =>
          fc
            .integer({ min: -1_500, max: 1_500 })
            .map((near) => (at + tolerances * skew) * 1_000 + near),
        ),
      ),
    );
  const drawn = aSkew.chain((skew) =>
    fc.record({
      skew: fc.constant(skew),
      mint: aMoment(skew),
      ours: fc.integer({ min: -skew * 1_000, max: skew * 1_000 }),
      theirs: fc.integer({ min: -skew * 1_000, max: skew * 1_000 }),
    }),
  );
  const at = (ms: number) => addMs(epochMs(NBF * 1_000), ms);
  const accepts = async (now: number, skewSeconds: number) =>
    (await verifyAdmission(admission, { ...options, now: epochMs(now), skewSeconds })).ok;
  /** From this second on, by a verifier's own clock, the verdict is the other one. */
  const boundaries = (skew: number) => [NBF - skew, NBF + LIFETIME_SECONDS + skew];
  const property = (verdict: typeof accepts) =>
    fc.asyncProperty(drawn, async ({ skew, mint, ours, theirs }) => {
      const clocks = [at(mint + ours), at(mint + theirs)].toSorted((a, b) => a - b);
      const [earlier = 0, later = 0] = clocks.map((clock) => Math.floor(clock / 1_000));
      const [one, two] = [await verdict(clocks[0] ?? 0, skew), await verdict(clocks[1] ?? 0, skew)];
      const isBetween = boundaries(skew).some((second) => earlier < second && second <= later);
      if (!isBetween) expect(one).toBe(two);
      // So the whole slot, by the mint's clock, is safe from it, and what is further off than two tolerances.
      if (mint >= 0 && mint < LIFETIME_SECONDS * 1_000) expect([one, two]).toEqual([true, true]);
      const isFar = mint < -2 * skew * 1_000 || mint >= (LIFETIME_SECONDS + 2 * skew) * 1_000;
      if (isFar) expect([one, two]).toEqual([false, false]);
    });

  test("never disagree unless a boundary second lies between them, and then outside of the slot by the mint's clock", async () => {
    await fc.assert(property(accepts), { numRuns: 500 });
  });
  test.each<[string, typeof accepts]>([
    ["a second more of tolerance", (now, skew) => accepts(now, skew + 1)],
    ["half a second's rounding", (now, skew) => accepts(now + 500, skew)],
    ["no tolerance", (now) => accepts(now, 0)],
  ])("canary: %s is caught", async (_title, bent) => {
    const found = await fc.check(property(bent), { numRuns: 5_000 });
    expect(found.failed).toBe(true);
  });
});

describe("law 6: what a location holds", () => {
  test("cannot sign: its keys are public and the runtime refuses to", async () => {
    for (const { key } of keys.values()) {
      expect(key.type).toBe("public");
      expect(key.usages).toEqual(["verify"]);
      await expect(crypto.subtle.sign("Ed25519", key as never, new Uint8Array(1))).rejects.toThrow(
        /sign|usage|key/iu,
      );
    }
  });

  test("makes nothing that another location takes: parts of genuine tokens do not combine", async () => {
    const ticket = await signTicket(signingKey, {
      issuer: ISSUER,
      event: EVENT,
      sub: SUB,
      place: { number: NUMBER },
      iat: NBF,
      exp: epochSeconds(NBF + 9_000),
    });
    const otherEvent = await signAdmission(signingKey, { ...claims, event: "other" });
    const otherFan = await signAdmission(signingKey, {
      ...claims,
      sub: hashVisitor(OTHER_VISITOR),
    });
    const stranger = await signAdmission(strangerKey.signingKey, claims);
    const texts = [admission, ticket, otherEvent, otherFan, stranger].map((text) =>
      text.split("."),
    );
    for (const [head] of texts)
      for (const [, body] of texts)
        for (const [, , signature] of texts) {
          const text = `${head}.${body}.${signature}`;
          expect((await verifyAdmission(text, options)).ok).toBe(text === admission);
        }
  });
});

describe("law 8", () => {
  test("law 8: no admission is accepted later than its exp plus the tolerance", async () => {
    const drawn = fc.record({
      skewSeconds: aSkew,
      lifetimeSeconds: aLifetime,
      stated: aLifetime,
      iat: fc.integer({ min: -86_400, max: 86_400 }),
      late: fc.integer({ min: 0, max: 10 ** 9 }),
    });
    await fc.assert(
      fc.asyncProperty(drawn, async ({ skewSeconds, lifetimeSeconds, stated, iat, late }) => {
        const exp = NBF + lifetimeSeconds;
        const signed = { ...claims, lifetimeSeconds, iat: epochSeconds(NBF + iat) };
        const text = await signAdmission(signingKey, signed);
        const now = epochMs((exp + skewSeconds) * 1000 + late);
        const all = { ...options, lifetimeSeconds: stated, skewSeconds };
        expect((await verifyAdmission(text, { ...all, now })).ok).toBe(false);
      }),
    );
  });

  test("law 8: none is accepted for longer than the event's stated lifetime, whatever its exp says", async () => {
    const payload = { iss: ISSUER, aud: EVENT, sub: SUB, act: "purchase", n: 1, jti: SUB };
    const times = { iat: NBF, nbf: NBF, exp: NBF + LIFETIME_SECONDS + 1 };
    const text = await forge(headerOf("vst-admission+jwt"), { ...payload, ...times });
    expect(await verifyAdmission(text, options)).toEqual({
      ok: false,
      refusal: { reason: "lifetime-too-long" },
    });
  });

  test("law 8, KR-07: a retired key verifies nothing from its end on, by this clock, also without a fresh set", async () => {
    const exp = NBF + 61;
    const retiring = await keySetOf({ keys: [{ ...keyOne.publicJwk, exp }, keyTwo.publicJwk] });
    const at = (ms: number) =>
      verifyAdmission(admission, { ...options, keys: retiring, now: epochMs(ms) });
    expect((await at(exp * 1000 - 1)).ok).toBe(true);
    expect(await at(exp * 1000)).toEqual({ ok: false, refusal: { reason: "key-over" } });
  });

  test("law 8, TV-12: a revoked key verifies nothing once it has left the set", async () => {
    const without = await keySetOf({ keys: [keyTwo.publicJwk] });
    expect(await verifyAdmission(admission, { ...options, keys: without })).toEqual({
      ok: false,
      refusal: { reason: "unknown-key" },
    });
  });
});

test("law 6: a key whose set names its use signs nothing else, and one without a use anything", async () => {
  const asked = (use: "line" | "admission" | undefined) =>
    keySetOf({
      keys: [{ ...keyOne.publicJwk, ...(use === undefined ? {} : { vst_use: use }) }],
    });
  const [line, forAdmissions, any] = await Promise.all([
    asked("line"),
    asked("admission"),
    asked(undefined),
  ]);
  const wrong = { ok: false, refusal: { reason: "wrong-type" } };
  expect(await verifyAdmission(admission, { ...options, keys: line })).toEqual(wrong);
  expect((await verifyAdmission(admission, { ...options, keys: forAdmissions })).ok).toBe(true);
  expect((await verifyAdmission(admission, { ...options, keys: any })).ok).toBe(true);
  const place = { number: ticketNumber(1) };
  const times = { iat: NBF, exp: epochSeconds(NBF + 3_600) };
  const { signingKey } = keyOne;
  const text = await signTicket(signingKey, {
    issuer: ISSUER,
    event: EVENT,
    sub: SUB,
    place,
    ...times,
  });
  const ticket = { issuer: ISSUER, event: EVENT, visitor: VISITOR, now: NOW, skewSeconds: 5 };
  expect(await verifyTicket(text, { ...ticket, keys: forAdmissions })).toEqual(wrong);
  expect((await verifyTicket(text, { ...ticket, keys: line })).ok).toBe(true);
});

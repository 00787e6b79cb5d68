import { AssertionError } from "@vestibule/kernel/assert";
import { epochMs } from "@vestibule/kernel/units";
import { signTime } from "@vestibule/token/sign";
import { verifyDrip } from "@vestibule/token/verify-drip";
import { type TimeAnswerOptions, verifyTime } from "@vestibule/token/verify-time";
import { compactVerify, decodeProtectedHeader, importJWK } from "jose";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  EVENT,
  ISSUER,
  JWKS,
  NOW,
  SKEW_SECONDS,
  forge,
  forgeMac,
  headerOf,
  keyOne,
  keySetOf,
  part,
  strangerKey,
} from "./forge.ts";

const TYP = "vst-time+jwt";
const NONCE = "q83vEjRWeJCrze8SNFZ4kA";
const OTHER_NONCE = "q83vEjRWeJCrze8SNFZ4kQ";
const keys = await keySetOf(JWKS);
const options: TimeAnswerOptions = { keys, issuer: ISSUER, nonce: NONCE };
const { signingKey } = keyOne;
const answer = await signTime(signingKey, { issuer: ISSUER, nonce: NONCE, at: NOW });
const claims = { iss: ISSUER, iat: Math.floor(NOW / 1000), nonce: NONCE, at: NOW as number };

const refused = (reason: string) => ({ ok: false, refusal: { reason } });

test("the mint's time comes back as it was signed, whatever it is", async () => {
  const aNonce = fc.stringMatching(/^[\w-]{22,64}$/u);
  await fc.assert(
    fc.asyncProperty(aNonce, fc.integer({ min: 0, max: 4e14 }), async (nonce, at) => {
      const text = await signTime(signingKey, { issuer: ISSUER, nonce, at: epochMs(at) });
      expect(await verifyTime(text, { ...options, nonce })).toEqual({
        ok: true,
        value: { iss: ISSUER, iat: Math.floor(at / 1000), nonce, at },
      });
    }),
  );
});

test("jose verifies it too, under the header that every text of ours has", async () => {
  const key = await importJWK({ ...keyOne.publicJwk }, "Ed25519");
  await expect(compactVerify(answer, key)).resolves.toBeDefined();
  expect(decodeProtectedHeader(answer)).toEqual(headerOf(TYP));
});

describe("no clock decides", () => {
  test("a time of 1970, and one of the year 5000, are taken: the verifier's clock may be wrong by any amount", async () => {
    for (const at of [0, 95_617_584_000_000]) {
      const text = await signTime(signingKey, { issuer: ISSUER, nonce: NONCE, at: epochMs(at) });
      expect((await verifyTime(text, options)).ok).toBe(true);
    }
  });

  test("a key that has its end signs until then, and not after it, by the statement's own time", async () => {
    const exp = Math.floor(NOW / 1000) + 60;
    const retiring = await keySetOf({ keys: [{ ...keyOne.publicJwk, exp }] });
    const at = async (ms: number) => {
      const text = await signTime(signingKey, { issuer: ISSUER, nonce: NONCE, at: epochMs(ms) });
      return verifyTime(text, { ...options, keys: retiring });
    };
    expect((await at(exp * 1000 - 1)).ok).toBe(true);
    expect(await at(exp * 1000)).toEqual(refused("key-over"));
  });
});

describe("refused", () => {
  test.each<[string, string, Partial<TimeAnswerOptions>]>([
    ["wrong-nonce", "an answer to another question", { nonce: OTHER_NONCE }],
    ["wrong-nonce", "an answer whose nonce differs in length", { nonce: `${NONCE}A` }],
    ["wrong-issuer", "another mint's answer", { issuer: "https://other.example" }],
    ["unknown-key", "an answer by a key that was revoked", { keys: new Map() }],
  ])("%s: %s", async (reason, _name, change) => {
    expect(await verifyTime(answer, { ...options, ...change })).toEqual(refused(reason));
  });

  test("wrong-type: a time signed by a key of another use", async () => {
    const asked = (vst_use: string) => keySetOf({ keys: [{ ...keyOne.publicJwk, vst_use }] });
    const read = await verifyTime(answer, { ...options, keys: await asked("admission") });
    expect(read).toEqual(refused("wrong-type"));
    expect((await verifyTime(answer, { ...options, keys: await asked("line") })).ok).toBe(true);
  });

  test.each<[string, object]>([
    ["vst-drip+jwt", headerOf("vst-drip+jwt")],
    ["JWT", headerOf("JWT")],
    ["another case", headerOf("vst-Time+jwt")],
    ["a media type", headerOf(`application/${TYP}`)],
    ["none", { alg: "Ed25519", kid: signingKey.kid }],
  ])("wrong-type: the typ is %s", async (_name, header) => {
    expect(await verifyTime(await forge(header, claims), options)).toEqual(refused("wrong-type"));
  });

  test("wrong-type: a time shown as a drip statement", async () => {
    const drip = { keys, issuer: ISSUER, event: EVENT, now: NOW, skewSeconds: SKEW_SECONDS };
    expect(await verifyDrip(answer, drip)).toEqual(refused("wrong-type"));
  });

  test.each(["none", "None", "", "HS256", "RS256", "ES256", "ed25519", "EDDSA", "Ed448", null, 1])(
    "wrong-algorithm: %j, though the signature holds",
    async (alg) => {
      const text = await forge({ ...headerOf(TYP), alg }, claims);
      expect(await verifyTime(text, options)).toEqual(refused("wrong-algorithm"));
    },
  );

  test("a MAC with the public key as its secret, and no signature at all", async () => {
    const secret = new TextEncoder().encode(keyOne.publicJwk.x);
    const header = { ...headerOf(TYP), alg: "HS256" };
    const mac = await forgeMac(header, claims, { secret, hash: "SHA-256" });
    expect((await verifyTime(mac, options)).ok).toBe(false);
    const unsigned = `${part({ ...headerOf(TYP), alg: "none" })}.${part(claims)}.`;
    expect((await verifyTime(unsigned, options)).ok).toBe(false);
  });

  test.each(["jwk", "jku", "x5u", "x5c", "crit", "b64"])("forbidden-header: %s", async (member) => {
    const header = { ...headerOf(TYP), [member]: member === "jwk" ? strangerKey.publicJwk : [] };
    const text = await forge(header, claims);
    expect(await verifyTime(text, options)).toEqual(refused("forbidden-header"));
  });

  test("a stranger's signature under a known kid, and under their own", async () => {
    const known = await forge(headerOf(TYP), claims, strangerKey);
    expect(await verifyTime(known, options)).toEqual(refused("bad-signature"));
    const own = await forge(headerOf(TYP, strangerKey), claims, strangerKey);
    expect(await verifyTime(own, options)).toEqual(refused("unknown-key"));
  });

  test.each<[string, object]>([
    ["no at", { at: undefined }],
    ["an at of a text", { at: String(NOW) }],
    ["an at of half a millisecond", { at: NOW + 0.5 }],
    ["a negative at", { at: -1000, iat: -1 }],
    ["an at beyond what a number holds", { at: 2 ** 53, iat: Math.floor(2 ** 53 / 1000) }],
    ["no iat", { iat: undefined }],
    ["an iat of another second than at", { iat: claims.iat + 1 }],
    ["no nonce", { nonce: undefined }],
    ["a list of nonces", { nonce: [NONCE] }],
    ["no issuer", { iss: undefined }],
  ])("bad-claims: %s", async (_name, change) => {
    const text = await forge(headerOf(TYP), { ...claims, ...change });
    expect(await verifyTime(text, options)).toEqual(refused("bad-claims"));
  });

  test("any text, never thrown at", async () => {
    const [head = "", body = "", signature = ""] = answer.split(".");
    const piece = fc.oneof(
      fc.constantFrom(head, body, signature, "", ".", "e30", "bnVsbA", "A".repeat(86)),
      fc.string({ unit: "binary", maxLength: 90 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 5 }), async (pieces) => {
        const text = pieces.join(".");
        if (text !== answer) expect((await verifyTime(text, options)).ok).toBe(false);
      }),
    );
    expect(await verifyTime(`${answer}.${"A".repeat(2_048)}`, options)).toEqual(
      refused("malformed"),
    );
  });

  test("every change of one character", async () => {
    const chars = "ABCDwxyz0189-_.=+/ \n".split("");
    for (let index = 0; index < answer.length; index += 1) {
      const char = chars[index % chars.length]!;
      if (char === answer[index]) continue;
      const text = answer.slice(0, index) + char + answer.slice(index + 1);
      expect((await verifyTime(text, options)).ok, `${char} at ${index}`).toBe(false);
    }
  });
});

test.each(["", "short", "A".repeat(65), 'A"B'.repeat(10)])(
  "a nonce of %j is a mistake of whoever asks or signs, not a question",
  async (nonce) => {
    await expect(verifyTime(answer, { ...options, nonce })).rejects.toThrow(AssertionError);
    const asked = { issuer: ISSUER, nonce, at: NOW };
    await expect(signTime(signingKey, asked)).rejects.toThrow(AssertionError);
  },
);

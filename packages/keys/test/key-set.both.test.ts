import { decodeBase64url, encodeBase64url } from "@vestibule/keys/base64url";
import { type EntryRefusal, parseJwks } from "@vestibule/keys/key-set";
import { type PublicJwk, decodePublicKey, jwksDocument, keyIdOf } from "@vestibule/keys/public-key";
import { kekOf } from "@vestibule/keys/seal";
import { generateSigningKey } from "@vestibule/keys/signing-key";
import { kekVault } from "@vestibule/keys/vault";
import fc from "fast-check";
import { expect, test } from "vitest";

const kek = kekOf(new Uint8Array(32));
const one = (await generateSigningKey(kekVault({ kek }))).publicJwk;
const other = (await generateSigningKey(kekVault({ kek }))).publicJwk;
const ec = { kty: "EC", crv: "P-256", x: "AA", y: "AA", kid: "later-algorithm" };

async function kidsOf(keys: readonly unknown[]): Promise<readonly string[] | string> {
  const read = await parseJwks({ keys });
  if (read.ok) return [...read.value.keys()];
  return read.refusal.reason === "bad-entry" ? read.refusal.entry : read.refusal.reason;
}

test("RFC 8037 appendix A.3: the kid is the RFC 7638 thumbprint", async () => {
  const x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
  expect(await keyIdOf(decodeBase64url(x)!)).toBe("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
});

test("a published set is read back", async () => {
  expect(await kidsOf([...jwksDocument([one, other]).keys])).toEqual([one.kid, other.kid]);
});

test.each([["EdDSA"], ["Ed25519"], [undefined]])(
  "TV-01: an entry whose alg is %s is taken",
  async (alg) => {
    expect(await kidsOf([{ ...one, alg }])).toEqual([one.kid]);
  },
);

test("KR-03: entries that say the same under one kid are one key", async () => {
  expect(await kidsOf([one, { ...one }, { ...one, alg: "EdDSA" }])).toEqual([one.kid]);
});

test.each<[string, readonly unknown[], EntryRefusal]>([
  ["right key first", [one, { ...other, kid: one.kid }], "duplicate-kid"],
  ["right key last", [{ ...other, kid: one.kid }, one], "duplicate-kid"],
  ["an EC entry last", [one, { ...ec, kid: one.kid }], "duplicate-kid"],
  ["an EC entry first", [{ ...ec, kid: one.kid }, one], "duplicate-kid"],
  ["two ends", [one, { ...one, exp: 5 }], "duplicate-kid"],
])("KR-03: two keys under one kid refuse the whole set (%s)", async (_name, keys, refusal) => {
  expect(await kidsOf(keys)).toBe(refusal);
});

test.each<[string, unknown, EntryRefusal]>([
  ["not an object", "x", "not-an-object"],
  ["null", null, "not-an-object"],
  ["a list", [], "not-an-object"],
  ["a private key of ours", { ...one, d: one.x }, "private-key"],
  ["somebody's private key", { ...ec, d: "AA" }, "private-key"],
  ["a shared secret", { kty: "oct", k: "AA" }, "private-key"],
  ["lower-case alg", { ...one, alg: "ed25519" }, "wrong-alg"],
  ["another alg", { ...one, alg: "HS256" }, "wrong-alg"],
  ["for encryption", { ...one, use: "enc" }, "wrong-use"],
  ["not for verifying", { ...one, key_ops: ["sign"] }, "wrong-use"],
  ["no kid", { ...one, kid: undefined }, "wrong-kid"],
  ["another key's kid", { ...one, kid: `${one.kid.slice(1)}A` }, "wrong-kid"],
  ["a fractional end", { ...one, exp: 1.5 }, "bad-exp"],
  ["an end in words", { ...one, exp: "5" }, "bad-exp"],
  ["no x", { ...one, x: undefined }, "not-32-bytes"],
  ["a short x", { ...one, x: one.x.slice(0, -3) }, "not-32-bytes"],
  ["a padded x", { ...one, x: `${one.x}=` }, "not-32-bytes"],
])(
  "KR-05: one bad entry (%s) refuses the set, good entry or not",
  async (_name, entry, refusal) => {
    expect(await kidsOf([other, entry])).toBe(refusal);
  },
);

test.each([{}, { keys: null }, { keys: {} }, { keys: "x" }, null, undefined, "<html>", [], 5])(
  "KR-05: %j is no key set",
  async (json) => {
    expect(await parseJwks(json)).toEqual({ ok: false, refusal: { reason: "not-a-key-set" } });
  },
);

test("KR-05: nothing replaces good keys by nothing", async () => {
  expect(await kidsOf([])).toBe("empty");
  expect(await kidsOf([ec])).toBe("empty");
});

test("a key of a later algorithm beside ours is passed over", async () => {
  expect(await kidsOf([ec, one, { kty: "AKP", alg: "ML-DSA-44", pub: "AA", kid: "k" }])).toEqual([
    one.kid,
  ]);
});

test("a set of more keys than the bound is refused before any is looked at", async () => {
  expect(await kidsOf(Array.from({ length: 17 }, () => "x"))).toBe("too-many-keys");
});

test("any JSON is read or refused, never thrown at", async () => {
  const member = fc.constantFrom("kty", "crv", "x", "kid", "alg", "use", "d", "exp", "key_ops");
  const entry = fc.oneof(
    fc.jsonValue(),
    fc.tuple(member, fc.jsonValue()).map(([name, value]) => ({ ...one, [name]: value })),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 4 }), async (keys) => {
      const read = await parseJwks({ keys });
      if (read.ok) expect(read.value.size).toBeGreaterThan(0);
    }),
  );
});

/** Every 32-byte text of a point whose order divides 8, canonical or not, with either sign bit. */
const LOW_ORDER = [
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
].flatMap((hex) => {
  const low = fromHex(hex);
  const high = Uint8Array.from(low);
  high[31]! |= 0x80;
  return [low, high];
});

test("TV-13: no spelling of a low-order point gets into a key set", async () => {
  expect(LOW_ORDER).toHaveLength(14);
  for (const bytes of LOW_ORDER) {
    const entry: PublicJwk = { ...one, x: encodeBase64url(bytes), kid: await keyIdOf(bytes) };
    expect(["low-order", "not-canonical"]).toContain(await kidsOf([other, entry]));
  }
});

test("TV-13: a y of p or more is refused, the largest y below p is not by this rule", () => {
  const y = (first: number) => {
    const bytes = new Uint8Array(32).fill(0xff);
    bytes[0] = first;
    bytes[31] = 0x7f;
    return encodeBase64url(bytes);
  };
  for (let first = 0xed; first <= 0xff; first += 1)
    expect(decodePublicKey(y(first))).toEqual({ ok: false, refusal: "not-canonical" });
  expect(decodePublicKey(y(0xec))).toEqual({ ok: false, refusal: "low-order" }); // p - 1
  expect(decodePublicKey(y(0xeb)).ok).toBe(true);
});

function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g)!, (byte) => Number.parseInt(byte, 16));
}

test("a use that is not ours is passed over, and one key of two uses refuses the set", async () => {
  expect(
    await kidsOf([
      { ...one, vst_use: "line" },
      { ...other, vst_use: "later" },
    ]),
  ).toEqual([one.kid]);
  const read = await parseJwks({
    keys: [
      { ...one, vst_use: "line" },
      { ...one, vst_use: "admission" },
    ],
  });
  expect(read).toMatchObject({ ok: false, refusal: { entry: "duplicate-kid" } });
  const set = await parseJwks({ keys: [{ ...one, vst_use: "line" }, other] });
  expect(set.ok && [set.value.get(one.kid)?.use, set.value.get(other.kid)?.use]).toEqual([
    "line",
    undefined,
  ]);
});

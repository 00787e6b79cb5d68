import { encodeBase64url } from "@vestibule/keys/base64url";
import { parseJwks } from "@vestibule/keys/key-set";
import { jwksDocument } from "@vestibule/keys/public-key";
import { kekOf, open, parseKek, seal } from "@vestibule/keys/seal";
import { generateSigningKey, importPrivateJwk, openSigningKey } from "@vestibule/keys/signing-key";
import { kekVault } from "@vestibule/keys/vault";
import { subtle } from "@vestibule/keys/webcrypto";
import { expect, test } from "vitest";

const kek = kekOf(new Uint8Array(32).fill(7));
const otherKek = kekOf(new Uint8Array(32).fill(8));
const vault = kekVault({ kek });

test("a generated key signs what its published half verifies", async () => {
  const { signingKey, publicJwk } = await generateSigningKey(vault);
  const keys = await parseJwks(jwksDocument([publicJwk]));
  if (!keys.ok) throw new Error("the set is refused");
  const verifyKey = keys.value.get(signingKey.kid)!;
  const message = new Uint8Array([1, 2, 3]);
  const signature = new Uint8Array(await subtle.sign("Ed25519", signingKey.key, message));
  expect(await subtle.verify("Ed25519", verifyKey.key, signature, message)).toBe(true);
});

test.each(["Ed25519", "EdDSA"] as const)(
  "TV-01: a key keeps its name, %s, sealed and published",
  async (alg) => {
    const { signingKey, publicJwk, sealed } = await generateSigningKey(vault, alg);
    const opened = await openSigningKey(sealed, { vault, kid: signingKey.kid });
    if (!opened.ok) throw new Error(opened.refusal);
    expect([signingKey, publicJwk, opened.value.signingKey, opened.value.publicJwk]).toMatchObject([
      { alg },
      { alg },
      { alg },
      { alg },
    ]);
  },
);

test("TV-01: a private key without a name has the newer one, and one of another name is none", async () => {
  const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  const { d, x } = (await crypto.subtle.exportKey("jwk", pair.privateKey)) as Record<
    "d" | "x",
    string
  >;
  const named = (alg: unknown) => importPrivateJwk({ kty: "OKP", crv: "Ed25519", d, x, alg });
  expect(await named(undefined)).toMatchObject({
    ok: true,
    value: { publicJwk: { alg: "Ed25519" } },
  });
  for (const alg of ["ed25519", "eddsa", "ES256", "none", null, 1])
    expect(await named(alg)).toEqual({ ok: false, refusal: "not-a-private-key" });
});

test("a private key in memory cannot be exported", async () => {
  const { signingKey, sealed } = await generateSigningKey(vault);
  const opened = await openSigningKey(sealed, { vault, kid: signingKey.kid });
  if (!opened.ok) throw new Error("the sealed key is refused");
  for (const { key } of [signingKey, opened.value.signingKey]) {
    expect(key.extractable).toBe(false);
    await expect(subtle.exportKey("jwk", key)).rejects.toThrow(/extractable/iu);
  }
});

test("the published half holds no private member", async () => {
  const { publicJwk } = await generateSigningKey(vault);
  expect(Object.keys(publicJwk).toSorted()).toEqual(["alg", "crv", "kid", "kty", "use", "x"]);
});

test("a sealed key is a JWE that names its key-encryption key and shows nothing else", async () => {
  const { sealed } = await generateSigningKey(vault);
  expect(sealed.split(".")).toHaveLength(5);
  const header: unknown = JSON.parse(atob(sealed.split(".")[0]!));
  expect(header).toEqual({ alg: "dir", enc: "A256GCM", kid: kek.kid });
});

test("the same secret is never sealed to the same text twice", async () => {
  expect(await seal({ a: 1 }, kek)).not.toBe(await seal({ a: 1 }, kek));
});

test("what was sealed opens with its own key-encryption key only", async () => {
  const sealed = await seal({ secret: "s" }, kek);
  expect(await open(sealed, kek)).toEqual({ ok: true, value: { secret: "s" } });
  expect(await open(sealed, otherKek)).toEqual({ ok: false, refusal: "other-kek" });
  const renamed = await open(sealed, { kid: kek.kid, bytes: otherKek.bytes });
  expect(renamed).toEqual({ ok: false, refusal: "cannot-open" });
});

test("a key-encryption key takes over: both open, one seals, and what the old one sealed is told apart", async () => {
  const old = await vault.seal({ secret: "s" });
  const both = kekVault({ kek: otherKek, previous: kek });
  expect(await both.open(old)).toEqual({ ok: true, value: { secret: "s" } });
  expect(both.isCurrent(old)).toBe(false);
  const anew = await both.seal({ secret: "s" });
  expect(both.isCurrent(anew)).toBe(true);
  expect(await vault.open(anew)).toEqual({ ok: false, refusal: "other-kek" });
  expect(await kekVault({ kek: otherKek }).open(old)).toEqual({ ok: false, refusal: "other-kek" });
  expect(both.isCurrent("rubbish")).toBe(false);
});

test("a changed sealed text never opens, and no refusal holds anything of it", async () => {
  const sealed = await seal({ secret: "s" }, kek);
  for (let index = 0; index < sealed.length; index += 1) {
    const other = sealed[index] === "B" ? "C" : "B";
    const opened = await open(sealed.slice(0, index) + other + sealed.slice(index + 1), kek);
    // The last character of a part has spare bits, which name the same bytes.
    if (opened.ok) expect(opened.value).toEqual({ secret: "s" });
    else expect(["not-sealed", "other-kek", "cannot-open"]).toContain(opened.refusal);
  }
});

test.each(["", "x", "a.b.c", "a.b.c.d.e", "....", "e30....", "x".repeat(5_000)])(
  "%j is not a sealed key",
  async (text) => {
    expect(await open(text, kek)).toEqual({ ok: false, refusal: "not-sealed" });
  },
);

test("a stored key that is not the one its row names is refused", async () => {
  const one = await generateSigningKey(vault);
  const other = await generateSigningKey(vault);
  const opened = await openSigningKey(one.sealed, { vault, kid: other.signingKey.kid });
  expect(opened).toEqual({ ok: false, refusal: "wrong-kid" });
});

test("a private key with another key's public half is refused: signing with it would leak it", async () => {
  const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign"]);
  const { d } = (await crypto.subtle.exportKey("jwk", pair.privateKey)) as { d: string };
  const { publicJwk } = await generateSigningKey(vault);
  const imported = await importPrivateJwk({ kty: "OKP", crv: "Ed25519", x: publicJwk.x, d });
  expect(imported.ok).toBe(false);
  expect(JSON.stringify(imported)).not.toContain(d);
});

test.each([null, 1, "x", [], {}, { kty: "EC" }, { kty: "OKP", crv: "Ed25519", x: "AA", d: 1 }])(
  "%j is no private key",
  async (jwk) => {
    const imported = await importPrivateJwk(jwk);
    expect(imported).toEqual({ ok: false, refusal: "not-a-private-key" });
  },
);

test("a key-encryption key is 32 bytes in their one spelling", () => {
  const text = encodeBase64url(new Uint8Array(32).fill(7));
  expect(parseKek(text)).toEqual({ ok: true, value: kek });
  for (const wrong of [
    "",
    "a",
    `${text}=`,
    ` ${text}`,
    text.slice(0, -4),
    `${text.slice(0, -1)}d`,
  ]) {
    expect(parseKek(wrong)).toEqual({ ok: false, refusal: "not-32-bytes" });
  }
});

test("the name of a key-encryption key is not its hash", async () => {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", kek.bytes));
  expect(kek.kid).not.toBe(encodeBase64url(digest));
});

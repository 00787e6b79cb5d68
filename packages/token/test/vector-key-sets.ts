/** Vectors on the key set instead of the token: an admission as it should be, shown to a verifier with other keys. */
import { decodeBase64url, encodeBase64url } from "@vestibule/keys/base64url";
import { keyIdOf } from "@vestibule/keys/public-key";

import { calculateJwkThumbprint } from "jose";

import type { Alg, VectorDraft } from "../conformance/pack.ts";
import {
  LIFETIME_SECONDS,
  NBF,
  NOW,
  type TestKey,
  forge,
  keyOne,
  keyTwo,
  oddKey,
  privateSeedOne,
  spareBits,
  strangerKey,
} from "./forge.ts";
import { type Builder, OK, builder, no } from "./vector-builder.ts";

type Entry = Readonly<Record<string, unknown>>;

interface Case {
  readonly name: string;
  readonly jwks: unknown;
  readonly expected: VectorDraft["expected"];
  readonly jwksBefore?: unknown;
  readonly token?: string;
  readonly options?: VectorDraft["options"];
}

const BAD_SET = no("bad-key-set");
const now = NOW / 1000;

/** Entries of other kinds of key: examples of RFC 7517 A.1, RFC 8037 A.6, and a few that say little. */
const EC = {
  kty: "EC",
  crv: "P-256",
  x: "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
  y: "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
};
const X25519 = { kty: "OKP", crv: "X25519", x: "3p7bfXt9wbTTW2HC7OQ1Nz-DQ8hbeGdNrfx-FG-IK08" };
const RSA = { kty: "RSA", n: "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4", e: "AQAB" };

const beforeOf = (before: unknown) => (before === undefined ? {} : { jwksBefore: before });

export async function keySetVectors(alg: Alg): Promise<readonly VectorDraft[]> {
  const build = builder("admission", alg);
  const good = await forge(build.header({}), build.payload({}));
  const all = [
    ...(await names(build)),
    ...sets(alg),
    ...(await duplicates(build)),
    ...rubbish(alg),
    ...forms(alg),
    ...(await spelledKeys(alg)),
    ...(await degenerate(build)),
    ...(await lives(build)),
  ];
  return all.map(({ name, jwks, jwksBefore, token = good, options = {}, expected }) => ({
    name,
    token,
    jwks,
    ...beforeOf(jwksBefore),
    options,
    expected,
  }));
}

/** As the mint publishes it, with `alg` as the tokens name it. */
function entryOf(key: TestKey, alg: Alg, change: Entry = {}): Entry {
  return { ...key.publicJwk, alg, ...change };
}

/** TV-01: the names of the algorithm in header and key set, in each combination. */
async function names({ alg, headed }: Builder): Promise<Case[]> {
  // Who knows the older name only is not asked about the newer one.
  const inHeader = alg === "EdDSA" ? ["EdDSA", "eddsa"] : ["Ed25519", "EdDSA", "ed25519"];
  const inSet = alg === "EdDSA" ? ["EdDSA", undefined] : ["Ed25519", "EdDSA", undefined];
  const cases: Case[] = [];
  for (const header of inHeader) {
    const { token } = await headed("", { alg: header }, OK);
    for (const entry of inSet) {
      const registered = header === "Ed25519" || header === "EdDSA";
      cases.push({
        name: `TV-01: alg ${header} in the header, ${entry ?? "none"} in the key set`,
        token,
        jwks: { keys: [entryOf(keyOne, alg, { alg: entry })] },
        expected: registered ? OK : no("wrong-algorithm"),
      });
    }
  }
  return cases;
}

/** What may be in a set, and beside our keys. */
function sets(alg: Alg): Case[] {
  const [one, two] = [entryOf(keyOne, alg), entryOf(keyTwo, alg)];
  const beside = (name: string, entry: Entry, expected = OK): Case => ({
    name: `beside the key: ${name}`,
    jwks: { keys: [entry, one] },
    expected,
  });
  const { kty, crv, x, kid } = one;
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ ...EC, kid: `p${index}` }));
  return [
    { name: "the key alone", jwks: { keys: [one] }, expected: OK },
    { name: "the key last", jwks: { keys: [two, one] }, expected: OK },
    {
      name: "an entry of kty, crv, x and kid only",
      jwks: { keys: [{ kty, crv, x, kid }] },
      expected: OK,
    },
    { name: "key_ops verify", jwks: { keys: [{ ...one, key_ops: ["verify"] }] }, expected: OK },
    { name: "unknown members", jwks: { more: 1, keys: [{ ...one, more: {} }] }, expected: OK },
    beside("a P-256 key", { ...EC, kid: "p", use: "sig", alg: "ES256" }),
    beside("a P-256 key without kid", EC),
    beside("a P-256 key to encrypt with", { ...EC, kid: "p", use: "enc" }),
    beside("an RSA key", { ...RSA, kid: "r", alg: "RS256" }),
    beside("an X25519 key", { ...X25519, kid: "x" }),
    beside("an Ed448 key", { kty: "OKP", crv: "Ed448", x: "AA", kid: "y" }),
    beside("a kind of key of later times", { kty: "AKP", alg: "ML-DSA-44", pub: "AA", kid: "z" }),
    beside("a P-256 key without its coordinates", { kty: "EC", crv: "P-256", kid: "p" }),
    { name: "16 entries", jwks: { keys: [...many(15), one] }, expected: OK },
    { name: "17 entries", jwks: { keys: [...many(16), one] }, expected: BAD_SET },
  ];
}

/** KR-03. */
async function duplicates({ alg, headed }: Builder): Promise<Case[]> {
  const one = entryOf(keyOne, alg);
  const { kid } = one;
  const impostor = entryOf(keyTwo, alg, { kid });
  const list = (name: string, keys: readonly Entry[], expected: Case["expected"]): Case => ({
    name: `KR-03: ${name}`,
    jwks: { keys },
    expected,
  });
  const { token } = await headed("", { kid: undefined }, OK);
  return [
    list("the same entry twice", [one, one], OK),
    list("the same key twice, one without alg", [one, { ...one, alg: undefined }], OK),
    list("another key under the same kid, behind", [one, impostor], BAD_SET),
    list("another key under the same kid, in front", [impostor, one], BAD_SET),
    list("a P-256 key under the same kid, behind", [one, { ...EC, kid }], BAD_SET),
    list("a P-256 key under the same kid, in front", [{ ...EC, kid }, one], BAD_SET),
    list("the same key twice, one with an end", [one, { ...one, exp: now + 900 }], BAD_SET),
    { ...list("a token without kid, one key in the set", [one], no("unknown-key")), token },
    {
      ...list(
        "a token without kid, two keys in the set",
        [one, entryOf(keyTwo, alg)],
        no("unknown-key"),
      ),
      token,
    },
  ];
}

/** KR-05. What the endpoint answers does not replace good keys, unless it is a good set. */
function rubbish(alg: Alg): Case[] {
  const one = entryOf(keyOne, alg);
  const answers: readonly (readonly [string, unknown])[] = [
    ["an empty set", { keys: [] }],
    ["an HTML page", "<!doctype html><title>Bad gateway</title>"],
    ["JSON that is cut off", `{"keys":[{"kty":"OKP","crv":"Ed25519"`],
    ["an empty body", ""],
    ["null", null],
    ["a list instead of an object", [one]],
    ["an object without keys", { error: "not now" }],
    ["keys that are null", { keys: null }],
    ["keys that are an object", { keys: { [String(one["kid"])]: one } }],
    ["a set of other kinds of key only", { keys: [{ ...EC, kid: "p" }] }],
    ["an entry that is null, beside the key", { keys: [null, one] }],
    ["an entry that is a text, beside the key", { keys: ["x", one] }],
    ["an entry without x, beside the key", { keys: [entryOf(keyTwo, alg, { x: undefined }), one] }],
  ];
  const before = { keys: [one] };
  return [
    ...answers.map(([name, jwks]) => ({ name: `KR-05: ${name}`, jwks, expected: BAD_SET })),
    ...answers.map(([name, jwks]) => ({
      name: `KR-05: ${name}, after a good set`,
      jwks,
      jwksBefore: before,
      expected: OK,
    })),
  ];
}

/** What may be wrong with an entry of ours. */
function mistakes({ publicJwk: { kid, x } }: TestKey): readonly (readonly [string, Entry])[] {
  const bytes = decodeBase64url(x) ?? new Uint8Array();
  const hash = decodeBase64url(kid) ?? new Uint8Array();
  const hex = Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [
    ["kid missing", { kid: undefined }],
    ["kid 1", { kid: 1 }],
    ["kid of an own choice", { kid: "key-1" }],
    ["kid of a key that is not there", { kid: strangerKey.publicJwk.kid }],
    ["kid in hexadecimal", { kid: hex }],
    ["kid with padding", { kid: `${kid}=` }],
    ["use enc", { use: "enc" }],
    ["key_ops sign", { key_ops: ["sign"] }],
    ["key_ops as a text", { key_ops: "verify" }],
    ["alg ES256", { alg: "ES256" }],
    ["alg HS256", { alg: "HS256" }],
    ["alg in lower case", { alg: "ed25519" }],
    ["alg null", { alg: null }],
    ["x missing", { x: undefined }],
    ["x of 31 bytes", { x: encodeBase64url(bytes.slice(0, 31)) }],
    ["x of 33 bytes", { x: `${x}A` }],
    ["x of a character too many", { x: `${x}AA` }],
    ["x with padding", { x: `${x}=` }],
    ["x with spare bits", { x: spareBits(x) }],
    ["x in base64", { x: x.replaceAll("-", "+").replaceAll("_", "/") }],
    ["x as a list of bytes", { x: [...bytes] }],
    ["a private half", { d: privateSeedOne }],
  ];
}

/** One entry of ours that breaks a rule refuses the set, also when it is not the one that is asked for. */
function forms(alg: Alg): Case[] {
  const one = entryOf(keyOne, alg);
  return [
    ...mistakes(keyOne).map(([name, change]) => ({
      name: `entry with ${name}`,
      jwks: { keys: [{ ...one, ...change }] },
      expected: BAD_SET,
    })),
    ...mistakes(keyTwo).map(([name, change]) => ({
      name: `another entry with ${name}`,
      jwks: { keys: [one, entryOf(keyTwo, alg, change)] },
      expected: BAD_SET,
    })),
    {
      name: "beside the key: a symmetric key",
      jwks: { keys: [one, { kty: "oct", k: "AAECAwQFBgcICQoLDA0ODw", kid: "s", alg: "HS256" }] },
      expected: BAD_SET,
    },
    {
      name: "beside the key: a private P-256 key",
      jwks: { keys: [one, { ...EC, kid: "p", d: "870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE" }] },
      expected: BAD_SET,
    },
  ];
}

/** Other spellings of `x`, each under the thumbprint of just that text: only the spelling is wrong. */
async function spelledKeys(alg: Alg): Promise<Case[]> {
  const one = entryOf(keyOne, alg);
  const cases: Case[] = [];
  for (const [name, { x }] of mistakes(keyOne)) {
    if (typeof x !== "string") continue;
    const kid = await calculateJwkThumbprint({ kty: "OKP", crv: "Ed25519", x });
    cases.push({
      name: `another entry with ${name}, kid its thumbprint`,
      jwks: { keys: [one, { ...one, x, kid }] },
      expected: BAD_SET,
    });
  }
  return cases;
}

/** y of the points of small order, little-endian, each with its other spellings (RFC 8032 section 5.1.3). */
const SMALL_ORDER: readonly (readonly [string, string])[] = [
  ["the neutral point", `01${"00".repeat(31)}`],
  ["the neutral point, sign bit set", `01${"00".repeat(30)}80`],
  ["the point of order 2", `ec${"ff".repeat(30)}7f`],
  ["a point of order 4", "00".repeat(32)],
  ["the other point of order 4", `${"00".repeat(31)}80`],
  ["a point of order 8", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"],
  ["another point of order 8", "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"],
  [
    "a point of order 8, sign bit set",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
  ],
  ["y = p", `ed${"ff".repeat(30)}7f`],
  ["y = p + 1", `ee${"ff".repeat(30)}7f`],
  ["y = 2^255 - 1", `${"ff".repeat(31)}7f`],
  ["y = p + 1, sign bit set", `ee${"ff".repeat(31)}`],
];

/** TV-13. Under such a key one signature fits many texts, and runtimes disagree about it. */
async function degenerate({ alg, header, payload }: Builder): Promise<Case[]> {
  const cases: Case[] = [];
  for (const [name, hex] of SMALL_ORDER) {
    const bytes = Uint8Array.from({ length: 32 }, (_, at) =>
      parseInt(hex.slice(at * 2, at * 2 + 2), 16),
    );
    const kid = await keyIdOf(bytes);
    const entry = { kty: "OKP", crv: "Ed25519", x: encodeBase64url(bytes), kid, alg, use: "sig" };
    // R the neutral point and S = 0: genuine for every text under the neutral key.
    const anybodys = encodeBase64url(
      Uint8Array.from({ length: 64 }, (_, at) => (at === 0 ? 1 : 0)),
    );
    const [head, body] = (await forge(header({ kid }), payload({}))).split(".");
    cases.push(
      {
        name: `TV-13: ${name} as a key, and a signature that anybody can make`,
        token: `${head}.${body}.${anybodys}`,
        jwks: { keys: [entry] },
        expected: BAD_SET,
      },
      {
        name: `TV-13: ${name} as a key beside a good one`,
        jwks: { keys: [entryOf(keyOne, alg), entry] },
        expected: BAD_SET,
      },
    );
  }
  return cases;
}

/** Staged, retiring, retired, revoked: what a verifier sees of each is the key set, and `exp` in it. */
async function lives(build: Builder): Promise<Case[]> {
  const { alg, header, payload, claims } = build;
  const [one, two] = [entryOf(keyOne, alg), entryOf(keyTwo, alg)];
  const keyOver = no("key-over");
  const ends = (name: string, exp: unknown, expected: Case["expected"], options = {}): Case => ({
    name: `KR-07: ${name}`,
    jwks: { keys: [{ ...one, exp }, two] },
    expected,
    options,
  });
  const backDated = await claims("", { iat: NBF - 3_000 }, OK);
  const odd = await forge(header({}, oddKey), payload({}), oddKey);
  const staged = await forge(header({}, strangerKey), payload({}), strangerKey);
  return [
    {
      name: "a staged key signs at last",
      token: staged,
      jwks: { keys: [one, entryOf(strangerKey, alg)] },
      expected: OK,
    },
    {
      name: "a staged key whose sign bit is set signs",
      token: odd,
      jwks: { keys: [one, entryOf(oddKey, alg)] },
      expected: OK,
    },
    ends("a retiring key, a second before its end", now + 1, OK),
    ends("a retiring key in the last millisecond before its end", now + 1, OK, {
      nowMs: NOW + 999,
    }),
    ends("a retired key at its end", now, keyOver),
    ends("a retired key at its end, the widest tolerance", now, keyOver, { skewSeconds: 60 }),
    ends("a retired key a second later", now - 1, keyOver),
    ends("a key that ended in 1970", 0, keyOver),
    ends("a retiring key that ends after the token", NBF + LIFETIME_SECONDS + 5, OK),
    { ...ends("a back-dated token of a retired key", now, keyOver), token: backDated.token },
    ...["1767225600", -1, 1.5, null, [now]].map((exp) =>
      ends(`an end of ${JSON.stringify(exp)}`, exp, BAD_SET),
    ),
    {
      name: "KR-07: a retired key beside the one that signed",
      jwks: { keys: [one, { ...two, exp: now - 60 }] },
      expected: OK,
    },
    { name: "a revoked key is not in the set", jwks: { keys: [two] }, expected: no("unknown-key") },
    {
      name: "a revoked key was in the set before",
      jwks: { keys: [two] },
      jwksBefore: { keys: [one, two] },
      expected: no("unknown-key"),
    },
    { name: "TV-12: a text that is accepted", jwks: { keys: [one, two] }, expected: OK },
    {
      name: "TV-12: the same text, its key revoked",
      jwks: { keys: [two] },
      expected: no("unknown-key"),
    },
    { name: "TV-12: the same text, its key in force again", jwks: { keys: [one] }, expected: OK },
    {
      name: "TV-12: the same text, its key over",
      jwks: { keys: [{ ...one, exp: now }] },
      expected: keyOver,
    },
    {
      name: "TV-12: the same text, another key under its kid",
      jwks: { keys: [{ ...two, kid: one["kid"] }] },
      expected: BAD_SET,
    },
  ];
}

/** What version 1.2 adds: keys that say what they are for (`vst_use`), and more sets that must not be taken. */
import { encodeBase64url } from "@vestibule/keys/base64url";

import type { Alg, Kind, VectorDraft } from "../conformance/pack.ts";
import { type TestKey, forge, keyOne, keyTwo } from "./forge.ts";
import { type Builder, OK, builder, no } from "./vector-builder.ts";

type Entry = Readonly<Record<string, unknown>>;
type Expected = VectorDraft["expected"];

const BAD_SET = no("bad-key-set");
const WRONG = no("wrong-type");
const UNKNOWN = no("unknown-key");

/** The use that a kind's key has; a credit is signed by the purchase API's own, which has none. */
const USE_OF: Readonly<Record<Kind, string | undefined>> = {
  ...{ admission: "admission", ticket: "line", drip: "line", manifest: "line" },
  service: "line",
  credit: undefined,
};

const EC = {
  kty: "EC",
  crv: "P-256",
  x: "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
  y: "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
};
const X25519 = { kty: "OKP", crv: "X25519", x: "3p7bfXt9wbTTW2HC7OQ1Nz-DQ8hbeGdNrfx-FG-IK08" };
const RSA = { kty: "RSA", n: "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4", e: "AQAB" };
/** 32 bytes that are nobody's secret. */
const SECRET = encodeBase64url(new Uint8Array(32).fill(5));

/** Each kind of token, signed by keys of each use. */
export async function uses(build: Builder): Promise<readonly VectorDraft[]> {
  const { kind, alg, header, payload } = build;
  const own = USE_OF[kind];
  const one = (use?: string) => entryOf(keyOne, alg, { vst_use: use });
  const two = (use?: string) => entryOf(keyTwo, alg, { vst_use: use });
  const token = await forge(header({}), payload({}));
  const vector = (name: string, keys: readonly Entry[], expected: Expected): VectorDraft => ({
    ...{ name, token, jwks: { keys }, options: {}, expected },
  });
  const vectors: VectorDraft[] = [];
  for (const use of ["admission", "line"]) {
    const expected = use === own ? OK : WRONG;
    vectors.push(
      vector(`signed by a key whose vst_use is ${use}`, [one(use)], expected),
      vector(
        `signed by a key whose vst_use is ${use}, beside one of the other use`,
        [one(use), two(use === "line" ? "admission" : "line")],
        expected,
      ),
      vector(
        `signed by a key without vst_use, beside one whose vst_use is ${use}`,
        [two(use), one()],
        OK,
      ),
    );
  }
  return vectors;
}

/** An admission as it should be, and sets of keys that differ. */
export async function moreKeySets(alg: Alg): Promise<readonly VectorDraft[]> {
  const { header, payload } = builder("admission", alg);
  const token = await forge(header({}), payload({}));
  const one = entryOf(keyOne, alg);
  const after = (sets: readonly Draft[]): Draft[] =>
    sets.map(([name, keys]) => [`${name}, after a good set`, keys, OK, [one]]);
  const bad = [...contradictions(alg), ...secrets(alg)].map(([name, keys]): Draft => [
    name,
    keys,
    BAD_SET,
  ]);
  const all: readonly Draft[] = [
    ...otherUses(alg),
    ...bad,
    ...after(bad),
    ...agreements(alg),
    ["TV-12: a text that is accepted, its key for admissions", [use(one, "admission")], OK],
    ["TV-12: the same text, its key for the line by now", [use(one, "line")], WRONG],
    ["TV-12: the same text, its key for admissions again", [use(one, "admission")], OK],
  ];
  return all.map(([name, keys, expected, before]) => ({
    ...{ name, token, jwks: { keys } },
    ...(before === undefined ? {} : { jwksBefore: { keys: before } }),
    ...{ options: {}, expected },
  }));
}

type Draft = readonly [
  name: string,
  keys: readonly Entry[],
  expected: Expected,
  before?: readonly Entry[],
];
type BadSet = readonly [name: string, keys: readonly Entry[]];

const use = (entry: Entry, vst_use: unknown): Entry => ({ ...entry, vst_use });

/** As the mint publishes it, with `alg` as the tokens name it. */
function entryOf(key: TestKey, alg: Alg, change: Entry = {}): Entry {
  return { ...key.publicJwk, alg, ...change };
}

/** Uses of later times, and texts that are none: such an entry is passed over. */
function otherUses(alg: Alg): Draft[] {
  const [one, two] = [entryOf(keyOne, alg), entryOf(keyTwo, alg)];
  const odd = ["refunds", "Admission", "admission ", "", null, 1, true, ["admission"], {}];
  return [
    ["beside the key: one whose vst_use is of later times", [use(two, "refunds"), one], OK],
    ...odd.map((value): Draft => [
      `signed by a key whose vst_use is ${JSON.stringify(value)}, beside a good one`,
      [use(one, value), use(two, "admission")],
      UNKNOWN,
    ]),
    ["a set of keys whose vst_use is of later times", [use(one, "refunds")], BAD_SET],
    [
      "a set of keys whose vst_use is of later times, after a good set",
      [use(one, "refunds")],
      OK,
      [one],
    ],
  ];
}

/** KR-03: two that say different things under one kid. */
function contradictions(alg: Alg): BadSet[] {
  const [one, two] = [entryOf(keyOne, alg), entryOf(keyTwo, alg)];
  const { kid } = one;
  const [forAdmissions, forLine] = [use(one, "admission"), use(one, "line")];
  return [
    ["KR-03: the same key twice, for admissions and for the line", [forAdmissions, forLine]],
    ["KR-03: the same key twice, for the line and for admissions", [forLine, forAdmissions]],
    ["KR-03: the same key twice, for admissions and for anything", [forAdmissions, one]],
    ["KR-03: the same key twice, for anything and for admissions", [one, forAdmissions]],
    ["KR-03: the same key twice, once for a use of later times", [one, use(one, "refunds")]],
    ["KR-03: the same key twice, first for a use of later times", [use(one, "refunds"), one]],
    ["KR-03: the same entry twice, and another key under its kid", [one, one, { ...two, kid }]],
    [
      "KR-03: two other keys under one kid, beside the key",
      [one, { ...EC, kid: "p" }, { ...RSA, kid: "p" }],
    ],
  ];
}

/** A private or symmetric member, wherever it is. */
function secrets(alg: Alg): BadSet[] {
  const [one, two] = [entryOf(keyOne, alg), entryOf(keyTwo, alg)];
  const beside = (name: string, entry: Entry): BadSet => [
    `a secret in a set: ${name}`,
    [one, entry],
  ];
  return [
    beside("d of a key of ours, for a use of later times", use({ ...two, d: SECRET }, "refunds")),
    beside("d of a key of ours, empty", { ...two, d: "" }),
    beside("d of a key of ours, null", { ...two, d: null }),
    beside("k in a key of ours", { ...two, k: SECRET }),
    beside("d of an RSA key", { ...RSA, kid: "r", d: SECRET, p: SECRET, q: SECRET }),
    beside("d of an X25519 key", { ...X25519, kid: "x", d: SECRET }),
    beside("priv of a kind of key of later times", {
      ...{ kty: "AKP", alg: "ML-DSA-44", pub: "AA", priv: "AA", kid: "z" },
    }),
    beside("k of a symmetric key without kid", { kty: "oct", k: SECRET }),
  ];
}

/** KR-03: entries that say the same. */
function agreements(alg: Alg): Draft[] {
  const one = entryOf(keyOne, alg);
  const forAdmissions = use(one, "admission");
  // Who knows the older name only is not asked about the newer one.
  const both: readonly Draft[] =
    alg === "EdDSA"
      ? []
      : [
          [
            "KR-03: the same key twice, under both names of the algorithm",
            [one, { ...one, alg: "EdDSA" }],
            OK,
          ],
        ];
  return [
    ["KR-03: the same key twice, for admissions", [forAdmissions, forAdmissions], OK],
    ["KR-03: the same key twice, one with key_ops", [one, { ...one, key_ops: ["verify"] }], OK],
    ["KR-03: the same entry 16 times", Array.from({ length: 16 }, () => one), OK],
    ["17 entries, all the same", Array.from({ length: 17 }, () => one), BAD_SET],
    ...both,
  ];
}

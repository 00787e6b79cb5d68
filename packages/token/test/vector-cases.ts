/** What the frozen vectors hold. Changing anything here means new vectors: `node test/generate-vectors.ts`. */
import { decodeBase64url, encodeBase64url } from "@vestibule/keys/base64url";
import { admissionId } from "@vestibule/token/admission-id";

import {
  EVENT,
  type Header,
  ISSUER,
  LIFETIME_SECONDS,
  NBF,
  NOW,
  NUMBER,
  OTHER_VISITOR,
  SKEW_SECONDS,
  SUB,
  type TestKey,
  VISITOR,
  forge,
  forgeMac,
  headerOf,
  keyOne,
  keyTwo,
  part,
  strangerKey,
} from "./forge.ts";
import type { Expected, Vector, VectorOptions } from "./vector.ts";

export type Kind = "admission" | "ticket" | "drip" | "manifest";

const EVENT_END = NBF + 86_400;

const CLAIMS: Readonly<Record<Kind, Readonly<Record<string, unknown>>>> = {
  admission: {
    iss: ISSUER,
    aud: EVENT,
    sub: SUB,
    act: "purchase",
    n: NUMBER,
    jti: admissionId(EVENT, NUMBER),
    iat: NBF + 30,
    nbf: NBF,
    exp: NBF + LIFETIME_SECONDS,
  },
  ticket: { iss: ISSUER, aud: EVENT, sub: SUB, iat: NBF - 3_600, exp: EVENT_END, n: NUMBER },
  drip: {
    iss: ISSUER,
    aud: EVENT,
    iat: NBF + 59,
    exp: NBF + 3_659,
    at: (NBF + 59) * 1000 + 250,
    seq: 17,
    state: "open",
    segments: [{ base: 4_700, count: 60, from: NBF * 1000 - 11_000, until: NBF * 1000 + 49_000 }],
    serving: 4_759,
    committed: 4_759,
    skips: [],
    issued: 9_000,
    rate: 60,
    notice: "",
    cuts: [],
    endsAt: EVENT_END * 1000,
  },
  manifest: { iss: ISSUER, iat: NBF + 59, exp: NBF + 604_859, seq: 3, events: [] },
};

export const OPTIONS: VectorOptions = {
  issuer: ISSUER,
  event: EVENT,
  lifetimeSeconds: LIFETIME_SECONDS,
  action: "purchase",
  visitor: VISITOR,
  nowMs: NOW,
  skewSeconds: SKEW_SECONDS,
};

const typOf = (kind: Kind) => `vst-${kind}+jwt`;
const OK: Expected = { ok: true };
const no = (reason: string, detail: object = {}): Expected => ({ ok: false, reason, ...detail });
const at = (seconds: number) => seconds * 1000;

/** Builds vectors of one kind from the differences to the good one. */
function builder(kind: Kind) {
  const vector = (name: string, token: string, expected: Expected, options = {}): Vector => ({
    name,
    token,
    options,
    expected,
  });
  return {
    vector,
    header: (change: Header, key?: TestKey) => ({ ...headerOf(typOf(kind), key), ...change }),
    payload: (change: object) => ({ ...CLAIMS[kind], ...change }),
    /** Genuinely signed, with other claims (`undefined` leaves one out) or other options. */
    claims: async (name: string, change: object, expected: Expected, options = {}) =>
      vector(
        name,
        await forge(headerOf(typOf(kind)), { ...CLAIMS[kind], ...change }),
        expected,
        options,
      ),
    /** Genuinely signed, with another header. */
    headed: async (name: string, change: Header, expected: Expected, key?: TestKey) =>
      vector(
        name,
        await forge({ ...headerOf(typOf(kind), key), ...change }, CLAIMS[kind], key),
        expected,
      ),
  };
}

/** Structure, header and signature: the same for every kind. */
async function structure(kind: Kind): Promise<Vector[]> {
  const { vector, header, payload, headed } = builder(kind);
  const good = await forge(header({}), payload({}));
  const [head = "", body = "", signature = ""] = good.split(".");
  const bytes = decodeBase64url(signature) ?? new Uint8Array();
  const signed = (sig: Uint8Array<ArrayBuffer>) => `${head}.${body}.${encodeBase64url(sig)}`;
  const resized = (length: number) => {
    const other = new Uint8Array(length);
    other.set(bytes.subarray(0, length));
    return other;
  };
  const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const spare = signature.slice(0, -1) + ALPHABET[ALPHABET.indexOf(signature.at(-1) ?? "A") + 1];
  const x = decodeBase64url(keyOne.publicJwk.x) ?? new Uint8Array();
  const unsecured = ["none", "None", "NONE", "nOnE"];
  const foreign = {
    jwk: strangerKey.publicJwk,
    jku: "https://evil.example/k",
    x5u: "https://evil.example/c",
  };
  const more = { x5c: ["MIIB"], x5t: "AAAA", "x5t#S256": "AAAA", crit: ["exp"], b64: true };
  return [
    vector("good", good, OK),
    await headed("TV-01: alg EdDSA, the older registered name", { alg: "EdDSA" }, OK),
    await headed("signed by the other key of the set", {}, OK, keyTwo),
    await headed("an unknown header member is ignored (RFC 7515 section 4)", { cty: "x" }, OK),
    ...(await Promise.all(
      ["ed25519", "eddsa", "EDDSA", "Ed448", "HS256", "ES256", "RS256", "", null, 1, ["EdDSA"]].map(
        (alg) => headed(`alg ${JSON.stringify(alg)}`, { alg }, no("wrong-algorithm")),
      ),
    )),
    await headed("alg missing", { alg: undefined }, no("wrong-algorithm")),
    ...unsecured.flatMap((alg) => [
      vector(
        `TV-03: alg ${alg}, empty signature`,
        `${part(header({ alg }))}.${body}.`,
        no("malformed"),
      ),
      vector(`TV-03: alg ${alg}, two parts`, `${part(header({ alg }))}.${body}`, no("malformed")),
      vector(
        `TV-03: alg ${alg}, old signature`,
        `${part(header({ alg }))}.${body}.${signature}`,
        no("wrong-algorithm"),
      ),
    ]),
    vector("TV-03: one part", head, no("malformed")),
    vector("TV-03: two parts", `${head}.${body}`, no("malformed")),
    vector("TV-03: four parts", `${good}.${signature}`, no("malformed")),
    vector(
      "TV-03: five parts (the encrypted form)",
      `${good}.${body}.${signature}`,
      no("malformed"),
    ),
    vector(
      "HMAC keyed with the public key, alg HS256",
      await forgeMac(header({ alg: "HS256" }), payload({}), x),
      no("malformed"),
    ),
    vector(
      "HMAC keyed with the public key, alg Ed25519",
      await forgeMac(header({}), payload({}), x),
      no("malformed"),
    ),
    ...(await Promise.all(
      Object.entries({ ...foreign, ...more }).map(([name, value]) =>
        headed(`header with ${name}`, { [name]: value }, no("forbidden-header")),
      ),
    )),
    vector(
      "signed by the key that its own jwk header brings",
      await forge(header({ jwk: strangerKey.publicJwk }, strangerKey), payload({}), strangerKey),
      no("forbidden-header"),
    ),
    await headed("signed by a key that is not in the set", {}, no("unknown-key"), strangerKey),
    await headed(
      "signed by a stranger under a known kid",
      { kid: keyOne.signingKey.kid },
      no("bad-signature"),
      strangerKey,
    ),
    await headed(
      "signed by one key of the set under the other's kid",
      { kid: keyTwo.signingKey.kid },
      no("bad-signature"),
    ),
    ...(await Promise.all(
      [undefined, null, 1, "", "__proto__", [keyOne.signingKey.kid]].map((kid) =>
        headed(`kid ${JSON.stringify(kid) ?? "missing"}`, { kid }, no("unknown-key")),
      ),
    )),
    ...(await Promise.all(
      [
        undefined,
        null,
        "JWT",
        "",
        typOf(kind).toUpperCase(),
        `application/${typOf(kind)}`,
        `${typOf(kind)} `,
      ].map((typ) =>
        headed(`TV-09: typ ${JSON.stringify(typ) ?? "missing"}`, { typ }, no("wrong-type")),
      ),
    )),
    ...(await Promise.all(
      (["admission", "ticket", "drip", "manifest"] as const)
        .filter((other) => other !== kind)
        .map(async (other) =>
          vector(
            `TV-09: a genuine ${other}`,
            await forge(headerOf(typOf(other)), CLAIMS[other]),
            no("wrong-type"),
          ),
        ),
    )),
    ...[0, 1, 32, 63, 65, 128].map((length) =>
      vector(`TV-08: signature of ${length} bytes`, signed(resized(length)), no("malformed")),
    ),
    vector("TV-08: signature of 64 zero bytes", signed(new Uint8Array(64)), no("bad-signature")),
    vector("TV-13: S raised by the group order", signed(raisedByOrder(bytes)), no("bad-signature")),
    vector("the last character's spare bits set", `${head}.${body}.${spare}`, no("malformed")),
    vector("padding", `${good}==`, no("malformed")),
    vector("a line feed at the end", `${good}\n`, no("malformed")),
    vector("a space in front", ` ${good}`, no("malformed")),
    vector("a space inside", `${head}. ${body}.${signature}`, no("bad-signature")),
    vector(
      "base64 instead of base64url",
      good.replace(/[-_]/gu, (char) => (char === "-" ? "+" : "/")),
      no("malformed"),
    ),
    vector(
      "another payload under the same signature",
      `${head}.${part(payload({ iat: 0 }))}.${signature}`,
      no("bad-signature"),
    ),
    vector("TV-08: empty payload", await forge(header({}), ""), no("malformed")),
    vector("TV-08: empty header", `.${body}.${signature}`, no("malformed")),
    vector("empty text", "", no("malformed")),
    vector("dots only", "..", no("malformed")),
    ...(await Promise.all(
      (["null", "[]", "5", '"x"', "{", "not JSON"] as const).flatMap((json) => [
        forge(json, payload({})).then((token) =>
          vector(`TV-08: header ${json}`, token, no("malformed")),
        ),
        forge(header({}), json).then((token) =>
          vector(`TV-08: payload ${json}`, token, no("malformed")),
        ),
      ]),
    )),
    vector(
      "TV-08: header of invalid UTF-8",
      await forge(new Uint8Array([0x7b, 0xff, 0x7d]), payload({})),
      no("malformed"),
    ),
    vector(
      "TV-08: payload of invalid UTF-8",
      await forge(header({}), new Uint8Array([0x7b, 0xff, 0x7d])),
      no("malformed"),
    ),
    vector(
      "a byte order mark before the payload",
      await forge(header({}), `\u{feff}${JSON.stringify(payload({}))}`),
      no("malformed"),
    ),
  ];
}

/** The group order L, little-endian, added to S: the same equation, another text (RFC 8032 section 8.4). */
function raisedByOrder(signature: Uint8Array): Uint8Array<ArrayBuffer> {
  const order = "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010";
  const raised = Uint8Array.from(signature);
  let carry = 0;
  for (let index = 0; index < 32; index += 1) {
    const sum =
      (raised[32 + index] ?? 0) +
      Number.parseInt(order.slice(index * 2, index * 2 + 2), 16) +
      carry;
    raised[32 + index] = sum & 255;
    carry = sum >> 8;
  }
  return raised;
}

type Builder = ReturnType<typeof builder>;

/** Each claim missing, and of a wrong type. */
function types({ claims }: Builder, names: Readonly<Record<string, readonly unknown[]>>) {
  return Object.entries(names).flatMap(([name, values]) =>
    [undefined, null, ...values].map((value) =>
      claims(
        `${name} ${value === undefined ? "missing" : JSON.stringify(value)}`,
        { [name]: value },
        no("bad-claims"),
      ),
    ),
  );
}

const BAD_SECONDS = ["1767225600", 1_767_225_600.5, -1, [NBF], true, 2 ** 53];
const BAD_NUMBERS = [0, -1, 1.5, "1", [1], true, 2 ** 53];
const BAD_HASHES = ["", 5, "short", `${SUB}A`, `${SUB.slice(0, -1)}B`, ` ${SUB.slice(1)}`];

function audience({ claims }: Builder) {
  const others = [
    "other",
    "A2",
    "",
    EVENT.toUpperCase(),
    `${EVENT}2`,
    EVENT.slice(0, -1),
    `${EVENT},other`,
    ` ${EVENT}`,
  ];
  return [
    ...[...others, [EVENT], ["other", EVENT], [], null, 5, undefined].map((aud) =>
      claims(`TV-10: aud ${JSON.stringify(aud) ?? "missing"}`, { aud }, no("wrong-audience")),
    ),
    claims("TV-10: a genuine one of this event, shown at another", {}, no("wrong-audience"), {
      event: "other",
    }),
  ];
}

function issuer({ claims }: Builder) {
  return [`${ISSUER}/`, "https://mint.example.evil", "", null, [ISSUER], undefined].map((iss) =>
    claims(`iss ${JSON.stringify(iss) ?? "missing"}`, { iss }, no("wrong-issuer")),
  );
}

function visitors({ claims }: Builder) {
  return [
    claims("another visitor", {}, no("wrong-visitor"), { visitor: OTHER_VISITOR }),
    claims("no visitor", {}, no("wrong-visitor"), { visitor: null }),
    claims("the hash shown instead of the secret", {}, no("wrong-visitor"), { visitor: SUB }),
    claims("an empty visitor", {}, no("wrong-visitor"), { visitor: "" }),
    claims("the visitor's last character with spare bits", {}, no("wrong-visitor"), {
      visitor: `${VISITOR.slice(0, -1)}F`,
    }),
    claims("a visitor of ten thousand characters", {}, no("wrong-visitor"), {
      visitor: "A".repeat(10_000),
    }),
  ];
}

/** TV-06 and the boundaries of `exp`, for a token signed at `iat` and good until `exp`. */
function times({ claims }: Builder, exp: number) {
  const now = NOW / 1000;
  const future = (iat: number) => no("issued-in-future", { issuedAt: iat });
  return [
    claims("TV-06: iat is now", { iat: now }, OK),
    claims("TV-06: iat is now + skew", { iat: now + 5 }, OK),
    claims("TV-06: iat is now + skew + 1", { iat: now + 6 }, future(now + 6)),
    claims(
      "TV-06: iat is now + skew + 1, the verifier at .999",
      { iat: now + 6 },
      future(now + 6),
      { nowMs: NOW + 999 },
    ),
    claims(
      "TV-06: iat is now + 1, the verifier at .782, no tolerance",
      { iat: now + 1 },
      future(now + 1),
      { nowMs: NOW + 782, skewSeconds: 0 },
    ),
    claims("TV-06: iat in milliseconds", { iat: NOW }, future(NOW)),
    claims("exp in the last millisecond of the tolerance", { exp }, OK, { nowMs: at(exp + 5) - 1 }),
    claims("exp + skew is now", { exp }, no("over", { until: exp }), { nowMs: at(exp + 5) }),
    claims("exp in the last millisecond, no tolerance", { exp }, OK, {
      nowMs: at(exp) - 1,
      skewSeconds: 0,
    }),
    claims("exp is now, no tolerance", { exp }, no("over", { until: exp }), {
      nowMs: at(exp),
      skewSeconds: 0,
    }),
    claims("exp + 60 at the widest tolerance", { exp }, no("over", { until: exp }), {
      nowMs: at(exp + 60),
      skewSeconds: 60,
    }),
  ];
}

export async function admissionVectors(): Promise<readonly Vector[]> {
  const build = builder("admission");
  const { claims, vector, header, payload } = build;
  const early = no("too-early", { validFrom: NBF });
  const many = await Promise.all([
    ...types(build, {
      sub: BAD_HASHES,
      jti: BAD_HASHES,
      n: BAD_NUMBERS,
      iat: BAD_SECONDS,
      nbf: BAD_SECONDS,
      exp: BAD_SECONDS,
    }),
    ...issuer(build),
    ...audience(build),
    ...["Purchase", "enter", "", null, ["purchase"], undefined].map((act) =>
      claims(`act ${JSON.stringify(act) ?? "missing"}`, { act }, no("wrong-action")),
    ),
    ...visitors(build),
    ...times(build, NBF + LIFETIME_SECONDS),
    claims("nbf is now + skew", { iat: NBF - 10 }, OK, { nowMs: at(NBF - 5) }),
    claims("nbf is a millisecond beyond now + skew", { iat: NBF - 10 }, early, {
      nowMs: at(NBF - 5) - 1,
    }),
    claims("nbf is now, no tolerance", { iat: NBF }, OK, { nowMs: at(NBF), skewSeconds: 0 }),
    claims("nbf is a millisecond from now, no tolerance", { iat: NBF - 1 }, early, {
      nowMs: at(NBF) - 1,
      skewSeconds: 0,
    }),
    claims(
      "exp - nbf is one second more than the lifetime",
      { exp: NBF + 601 },
      no("lifetime-too-long"),
    ),
    claims("a shorter lifetime than the event's", { exp: NBF + 599 }, OK),
    claims("exp is nbf", { exp: NBF }, no("bad-claims")),
    claims("exp before nbf", { exp: NBF - 1 }, no("bad-claims")),
    claims("an unknown claim is ignored", { more: 1 }, OK),
    claims("the widest token that fits", { more: "x".repeat(990) }, OK),
  ]);
  const long = await forge(header({}), payload({ more: "x".repeat(2_048) }));
  return [
    ...(await structure("admission")),
    ...many,
    vector("longer than 2,048 characters", long, no("malformed")),
  ];
}

export async function ticketVectors(): Promise<readonly Vector[]> {
  const build = builder("ticket");
  const { claims } = build;
  const many = await Promise.all([
    ...types(build, { sub: BAD_HASHES, n: BAD_NUMBERS, iat: BAD_SECONDS, exp: BAD_SECONDS }),
    ...issuer(build),
    ...audience(build),
    ...visitors(build),
    ...times(build, EVENT_END),
    claims("a draw index instead of a number", { n: undefined, d: 12 }, OK),
    ...BAD_NUMBERS.map((d) =>
      claims(`d ${JSON.stringify(d)}`, { n: undefined, d }, no("bad-claims")),
    ),
    claims("both number and draw index", { d: 12 }, no("bad-claims")),
    claims("a number, and a draw index of null", { d: null }, no("bad-claims")),
    claims("a draw index, and a number of null", { n: null, d: 12 }, no("bad-claims")),
    claims("an unknown claim is ignored", { nbf: "x" }, OK),
  ]);
  return [...(await structure("ticket")), ...many];
}

export async function dripVectors(): Promise<readonly Vector[]> {
  const build = builder("drip");
  const many = await Promise.all([
    ...types(build, {
      iat: BAD_SECONDS,
      exp: BAD_SECONDS,
      seq: BAD_SECONDS,
      segments: ["x", [{}]],
      state: ["Open", ""],
      cuts: [{}],
      endsAt: ["x"],
    }),
    ...audience(build).slice(0, 8),
    ...issuer(build).slice(0, 3),
    ...times(build, NBF + 3_659),
    build.claims(
      "held, with a scope",
      { heldSince: at(NBF + 50), heldScope: "entries", state: "paused" },
      OK,
    ),
  ]);
  return [...(await structure("drip")), ...many];
}

export async function manifestVectors(): Promise<readonly Vector[]> {
  const build = builder("manifest");
  const many = await Promise.all([
    ...types(build, { iat: BAD_SECONDS, exp: BAD_SECONDS, seq: BAD_SECONDS, events: ["x", [{}]] }),
    ...issuer(build).slice(0, 3),
    ...times(build, NBF + 604_859),
  ]);
  return [...(await structure("manifest")), ...many];
}

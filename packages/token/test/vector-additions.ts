/** What version 1.1 adds to every kind of token: another implementation's pitfalls, and times at their boundaries. */
import { decodeBase64url, encodeBase64url } from "@vestibule/keys/base64url";
import { sha256 } from "@vestibule/keys/sha256";

import type { VectorDraft } from "../conformance/pack.ts";
import {
  EVENT,
  ISSUER,
  LIFETIME_SECONDS,
  NBF,
  NOW,
  SUB,
  VISITOR,
  forge,
  keyTwo,
  part,
  signParts,
  spareBits,
  strangerKey,
} from "./forge.ts";
import { signedWithOddPoint } from "./odd-point.ts";
import { type Builder, CLAIMS, EVENT_END, OK, no } from "./vector-builder.ts";

const at = (seconds: number) => seconds * 1000;

export async function additions(build: Builder): Promise<readonly VectorDraft[]> {
  return [
    ...(await headers(build)),
    ...(await signatures(build)),
    ...(await spellings(build)),
    ...(await json(build)),
    ...(await times(build)),
    ...(await own(build)),
  ];
}

async function headers({ headed, header, payload, vector }: Builder) {
  const { alg, typ, kid } = header({}) as { alg: string; typ: string; kid: string };
  return [
    ...(await Promise.all(
      [[], null, "exp", ["b64"]].map((crit) =>
        headed(`header with crit ${JSON.stringify(crit)}`, { crit }, no("forbidden-header")),
      ),
    )),
    await headed(
      "header with crit and b64 false (RFC 7797)",
      { b64: false, crit: ["b64"] },
      no("forbidden-header"),
    ),
    await headed("header with a jwk of null", { jwk: null }, no("forbidden-header")),
    await headed(
      "header with the jwk of the very key that signed",
      { jwk: keyTwo.publicJwk },
      no("forbidden-header"),
      keyTwo,
    ),
    await headed("TV-09: typ in a list", { typ: [typ] }, no("wrong-type")),
    await headed("Alg instead of alg", { alg: undefined, Alg: alg }, no("wrong-algorithm")),
    await headed("Typ instead of typ", { typ: undefined, Typ: typ }, no("wrong-type")),
    await headed("Kid instead of kid", { kid: undefined, Kid: kid }, no("unknown-key")),
    await headed("a KID beside kid is another member", { KID: "x" }, OK),
    vector(
      "a header with white space",
      await forge(JSON.stringify(header({}), undefined, 1), payload({})),
      OK,
    ),
    vector(
      "a deeply nested header, signed by a stranger under a known kid",
      await forge(
        `${JSON.stringify(header({})).slice(0, -1)},"x":${"[".repeat(300)}${"]".repeat(300)}}`,
        payload({}),
        strangerKey,
      ),
      no("bad-signature"),
    ),
  ];
}

async function signatures({ vector, header, payload }: Builder) {
  const good = await forge(header({}), payload({}));
  const [head = "", body = "", signature = ""] = good.split(".");
  const bytes = decodeBase64url(signature) ?? new Uint8Array();
  const swapped = new Uint8Array([...bytes.subarray(32), ...bytes.subarray(0, 32)]);
  const signed = (name: string, sig: string, reason: string) =>
    vector(name, `${head}.${body}.${sig}`, no(reason));
  return [
    signed("TV-13: R and S swapped", encodeBase64url(swapped), "bad-signature"),
    signed(
      "TV-13: 64 bytes of ones",
      encodeBase64url(new Uint8Array(64).fill(0xff)),
      "bad-signature",
    ),
    vector(
      "TV-13: R is the neutral point, spelled with y = p + 1",
      await signedWithOddPoint(`${head}.${body}`),
      no("bad-signature"),
    ),
    signed("a character beyond ASCII in the signature", `é${signature.slice(1)}`, "malformed"),
    signed("a NUL in the signature", `\0${signature.slice(1)}`, "malformed"),
    signed("a percent-encoded signature", `%${signature.slice(1)}`, "malformed"),
  ];
}

/** Other spellings of the same bytes, under a genuine signature of exactly that text. */
async function spellings({ vector, header, payload }: Builder) {
  // 2 bytes more than a multiple of 3 leave spare bits, and room for padding.
  const head = part(padded(header({}), "cty"));
  const body = part(padded(payload({}), "more"));
  const genuine = async (name: string, one: string, other: string) =>
    vector(name, await signParts(one, other), no("malformed"));
  return [
    vector("the same two parts as they should be spelled", await signParts(head, body), OK),
    await genuine("genuinely signed: padding at the header", `${head}=`, body),
    await genuine("genuinely signed: padding at the payload", head, `${body}=`),
    await genuine("genuinely signed: spare bits in the header", spareBits(head), body),
    await genuine("genuinely signed: spare bits in the payload", head, spareBits(body)),
    await genuine("genuinely signed: a character too many in the header", `${head}AA`, body),
    await genuine("genuinely signed: a character too many in the payload", head, `${body}AA`),
    await genuine("genuinely signed: a line feed in the payload", head, `${body}\n`),
    await genuine(
      "genuinely signed: a space in the header",
      `${head.slice(0, 8)} ${head.slice(8)}`,
      body,
    ),
  ];
}

/** With a member `name` of a length that makes the JSON 3k + 2 bytes long. */
function padded(content: object, name: string): string {
  for (const fill of ["x", "xx", "xxx"]) {
    const text = JSON.stringify({ ...content, [name]: fill });
    if (text.length % 3 === 2) return text;
  }
  throw new Error("one of three lengths fits");
}

/** RFC 3629: what some readers replace, and some take as it is. */
const INVALID_UTF8: readonly (readonly [string, readonly number[]])[] = [
  ["a byte that begins nothing", [0xff]],
  ["NUL in two bytes", [0xc0, 0x80]],
  ["half a surrogate pair", [0xed, 0xa0, 0x80]],
];

/** With one more member, a text of these bytes. */
function withBytes(object: string, bytes: readonly number[]): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(`${object.slice(0, -1)},"more":"`);
  return new Uint8Array([...head, ...bytes, ...new TextEncoder().encode('"}')]);
}

async function json({ kind, claims, vector, header, payload }: Builder) {
  const good = JSON.stringify(payload({}));
  const text = async (name: string, content: string, expected = no("malformed")) =>
    vector(name, await forge(header({}), content), expected);
  const { exp, iat } = CLAIMS[kind] as { exp: number; iat: number };
  return [
    await text("a payload with white space", JSON.stringify(payload({}), undefined, 1), OK),
    await text("text behind the payload's JSON", `${good} x`),
    await text("a second object behind the payload's", `${good}${good}`),
    await text("a comma too many in the payload", `${good.slice(0, -1)},}`),
    await text("single quotes in the payload", good.replaceAll('"', "'")),
    await text("a comment in the payload", `${good}//`),
    await text("exp NaN, which is no JSON", good.replace(`"exp":${exp}`, '"exp":NaN')),
    await text("exp Infinity, which is no JSON", good.replace(`"exp":${exp}`, '"exp":Infinity')),
    await text(
      "exp 1e400, more than a double holds",
      good.replace(`"exp":${exp}`, '"exp":1e400'),
      no("bad-claims"),
    ),
    await text(
      "exp with a leading zero, which is no JSON",
      good.replace(`"exp":${exp}`, `"exp":0${exp}`),
    ),
    await text("a payload of 600 nested lists", `${"[".repeat(600)}${"]".repeat(600)}`),
    await text("a payload that opens 1,100 nested lists", "[".repeat(1_100)),
    await text("a claim of NaN in the payload", `${good.slice(0, -1)},"more":NaN}`),
    await text("a claim of -Infinity in the payload", `${good.slice(0, -1)},"more":-Infinity}`),
    ...(await Promise.all(
      INVALID_UTF8.map(async ([name, bytes]) =>
        vector(
          `${name} in the payload`,
          await forge(header({}), withBytes(good, bytes)),
          no("malformed"),
        ),
      ),
    )),
    ...(await Promise.all(
      INVALID_UTF8.map(async ([name, bytes]) =>
        vector(
          `${name} in the header`,
          await forge(withBytes(JSON.stringify(header({})), bytes), payload({})),
          no("malformed"),
        ),
      ),
    )),
    await text("the claims below __proto__", `{"__proto__":${good}}`, no("bad-claims")),
    await text("the claims below a member of their own", `{"claims":${good}}`, no("bad-claims")),
    await claims("Exp instead of exp", { exp: undefined, Exp: exp }, no("bad-claims")),
    await claims("IAT instead of iat", { iat: undefined, IAT: iat }, no("bad-claims")),
    await claims("an EXP of long ago beside exp is another claim", { EXP: 0 }, OK),
    await claims(
      "Iss instead of iss",
      { iss: undefined, Iss: ISSUER },
      // Drip and manifest are read against a schema first: there, a missing claim is a wrong one.
      no(kind === "drip" || kind === "manifest" ? "bad-claims" : "wrong-issuer"),
    ),
  ];
}

async function times({ kind, claims }: Builder) {
  const { exp, iat } = CLAIMS[kind] as { exp: number; iat: number };
  const now = NOW / 1000;
  const future = (second: number) => no("issued-in-future", { issuedAt: second });
  const over = no("over", { until: exp });
  return [
    await claims("TV-06: iat is now, no tolerance", { iat: now }, OK, { skewSeconds: 0 }),
    await claims("TV-06: iat is now + 60 at the widest tolerance", { iat: now + 60 }, OK, {
      skewSeconds: 60,
    }),
    await claims(
      "TV-06: iat is now + 61 at the widest tolerance",
      { iat: now + 61 },
      future(now + 61),
      { skewSeconds: 60 },
    ),
    await claims("TV-06: the verifier's clock stepped back by the tolerance", {}, OK, {
      nowMs: at(iat - 5),
    }),
    await claims(
      "TV-06: the verifier's clock stepped back by a millisecond more",
      {},
      future(iat),
      { nowMs: at(iat - 5) - 1 },
    ),
    await claims("exp is now, within the tolerance", {}, OK, { nowMs: at(exp) }),
    await claims("exp in the last millisecond of the widest tolerance", {}, OK, {
      nowMs: at(exp + 60) - 1,
      skewSeconds: 60,
    }),
    await claims("over for a day", {}, over, { nowMs: at(exp + 86_400) }),
    await claims("TV-12: the tolerance has two seconds left", {}, OK, { nowMs: at(exp + 3) }),
    await claims("TV-12: the same text two seconds later", {}, over, { nowMs: at(exp + 5) }),
  ];
}

/** What one kind alone has. */
async function own(build: Builder): Promise<VectorDraft[]> {
  const { kind, claims } = build;
  if (kind === "manifest") return manifest(build);
  const audience = await claims(
    "TV-10: aud with a line feed",
    { aud: `${EVENT}\n` },
    no("wrong-audience"),
  );
  if (kind === "drip") return [audience, ...(await drip(build))];
  if (kind === "service") return [audience, ...(await sizes(build))];
  const rest =
    kind === "admission" ? await admission(build) : kind === "credit" ? await credit(build) : [];
  return [audience, ...(await visitor(build)), ...(await sizes(build)), ...rest];
}

async function visitor({ claims }: Builder) {
  const ofBytes = encodeBase64url(sha256(decodeBase64url(VISITOR) ?? new Uint8Array()));
  const hex = Array.from(decodeBase64url(SUB) ?? [], (byte) => byte.toString(16).padStart(2, "0"));
  return [
    await claims("sub is the hash of the decoded secret", { sub: ofBytes }, no("wrong-visitor")),
    await claims("sub is the secret itself", { sub: VISITOR }, no("wrong-visitor")),
    await claims("sub in hexadecimal", { sub: hex.join("") }, no("bad-claims")),
    await claims("sub with padding", { sub: `${SUB}=` }, no("bad-claims")),
    await claims("the visitor with padding", {}, no("wrong-visitor"), { visitor: `${VISITOR}=` }),
    await claims("a visitor beyond ASCII", {}, no("wrong-visitor"), {
      visitor: `é${VISITOR.slice(1)}`,
    }),
    await claims("the visitor in another case", {}, no("wrong-visitor"), {
      visitor: VISITOR.toUpperCase(),
    }),
  ];
}

async function sizes({ vector, header, payload }: Builder) {
  const sized = async (chars: number): Promise<string> => {
    for (const cty of ["x", "xx", "xxx"]) {
      for (let fill = 800; fill < 1_400; fill += 1) {
        const content = payload({ more: "x".repeat(fill) });
        const text = `${part(header({ cty }))}.${part(content)}`;
        if (text.length + 87 === chars) return forge(header({ cty }), content);
      }
    }
    throw new Error(`no token of ${chars} characters`);
  };
  return [
    vector("2,048 characters", await sized(2_048), OK),
    vector("2,049 characters", await sized(2_049), no("malformed")),
  ];
}

async function admission({ claims }: Builder) {
  const early = no("too-early", { validFrom: NBF });
  const tooLong = no("lifetime-too-long");
  return [
    await claims("nbf is now + 60 at the widest tolerance", { iat: NBF - 90 }, OK, {
      nowMs: at(NBF - 60),
      skewSeconds: 60,
    }),
    await claims("nbf is a millisecond beyond the widest tolerance", { iat: NBF - 90 }, early, {
      nowMs: at(NBF - 60) - 1,
      skewSeconds: 60,
    }),
    await claims("an hour before nbf", { iat: NBF - 3_700 }, early, { nowMs: at(NBF - 3_600) }),
    await claims("exp is nbf, and the clock there", { iat: NBF, exp: NBF }, no("bad-claims"), {
      nowMs: at(NBF),
    }),
    await claims(
      "exp before nbf, and the clock within the tolerance",
      { iat: NBF, exp: NBF - 2 },
      no("bad-claims"),
      { nowMs: at(NBF) },
    ),
    await claims("nbf in milliseconds", { nbf: at(NBF) }, no("bad-claims")),
    await claims("exp in milliseconds", { exp: at(NBF + LIFETIME_SECONDS) }, tooLong),
    await claims("exp a hundred years ahead", { exp: NBF + 3_155_760_000 }, tooLong),
    await claims("the event's lifetime is a second shorter than the token's", {}, tooLong, {
      lifetimeSeconds: LIFETIME_SECONDS - 1,
    }),
    await claims("a longer lifetime than asked for does no harm", {}, OK, {
      lifetimeSeconds: 86_400,
    }),
    await claims("signed again behind exp, within the tolerance", { iat: NBF + 603 }, OK, {
      nowMs: at(NBF + 602),
    }),
    await claims("act purchase and more", { act: "purchase refund" }, no("wrong-action")),
    await claims("an issuer in another case", { iss: ISSUER.toUpperCase() }, no("wrong-issuer")),
  ];
}

async function credit({ claims }: Builder) {
  const { iat } = CLAIMS.credit as { iat: number };
  return [
    await claims("exp is iat, and the clock there", { exp: iat }, no("bad-claims"), {
      nowMs: at(iat),
    }),
  ];
}

async function drip({ claims }: Builder) {
  return [
    await claims("heldScope of another word", { heldScope: "some" }, no("bad-claims")),
    await claims("heldSince as a text", { heldSince: "now" }, no("bad-claims")),
    await claims("a run of skipped numbers without an end", { skips: [[1]] }, no("bad-claims")),
    await claims("rate of half a slot", { rate: 0.5 }, no("bad-claims")),
    await claims("a seq of 0, the first", { seq: 0 }, OK),
    await claims("an unknown claim is ignored", { more: 1 }, OK),
  ];
}

const MANIFEST_EVENT = {
  event: EVENT,
  title: "Spring sale",
  hosts: ["shop.example"],
  paths: ["/checkout/*"],
  bypass: [],
  homePath: "/",
  lifetimeSeconds: LIFETIME_SECONDS,
  claimWindowSeconds: 180,
  holdingStatus: 200,
  accent: "#0a7d5a",
  endsAt: at(EVENT_END),
};

async function manifest({ claims }: Builder) {
  const { hosts: _, ...hostless } = MANIFEST_EVENT;
  return [
    await claims("with an event", { events: [MANIFEST_EVENT] }, OK),
    await claims("an event without hosts", { events: [hostless] }, no("bad-claims")),
    await claims(
      "an event with a lifetime of a text",
      { events: [{ ...MANIFEST_EVENT, lifetimeSeconds: "600" }] },
      no("bad-claims"),
    ),
    await claims("an aud, which a manifest has not, is ignored", { aud: "other" }, OK),
    await claims("an unknown claim is ignored", { more: 1 }, OK),
  ];
}

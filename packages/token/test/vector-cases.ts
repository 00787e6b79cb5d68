/** The vectors of version 1.0. They are frozen: what is added later stands in files of its own. */
import { ticketNumber } from "@vestibule/kernel/units";
import { admissionId } from "@vestibule/token/admission-id";

import type { Alg, VectorDraft } from "../conformance/pack.ts";
import {
  EVENT,
  ISSUER,
  LIFETIME_SECONDS,
  NBF,
  NOW,
  NUMBER,
  OTHER_VISITOR,
  SUB,
  VISITOR,
  forge,
} from "./forge.ts";
import { type Builder, CREDIT_END, EVENT_END, OK, builder, no } from "./vector-builder.ts";
import { structure } from "./vector-structure.ts";

const at = (seconds: number) => seconds * 1000;

/** Each claim missing, and of a wrong type. */
export function types({ claims }: Builder, names: Readonly<Record<string, readonly unknown[]>>) {
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

export const BAD_SECONDS = ["1767225600", 1_767_225_600.5, -1, [NBF], true, 2 ** 53];
const BAD_NUMBERS = [0, -1, 1.5, "1", [1], true, 2 ** 53];
export const BAD_HASHES = ["", 5, "short", `${SUB}A`, `${SUB.slice(0, -1)}B`, ` ${SUB.slice(1)}`];

export function audience({ claims }: Builder) {
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

export function issuer({ claims }: Builder) {
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

/** Which of `times` is far behind any `exp`: a kind that says how long it lives calls that ill formed. */
export const IAT_IN_MS = 5;

/** TV-06 and the boundaries of `exp`, for a token signed at `iat` and good until `exp`. */
export function times({ claims }: Builder, exp: number) {
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

export async function admissionVectors(alg: Alg): Promise<readonly VectorDraft[]> {
  const build = builder("admission", alg);
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
  const credit = await forge(header({}), builder("credit", alg).payload({}));
  return [
    ...(await structure(build)),
    ...many,
    vector("TV-09: the claims of a credit under an admission's typ", credit, no("bad-claims")),
    vector("longer than 2,048 characters", long, no("malformed")),
  ];
}

export async function ticketVectors(alg: Alg): Promise<readonly VectorDraft[]> {
  const build = builder("ticket", alg);
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
  return [...(await structure(build)), ...many];
}

export async function dripVectors(alg: Alg): Promise<readonly VectorDraft[]> {
  const build = builder("drip", alg);
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
  return [...(await structure(build)), ...many];
}

export async function manifestVectors(alg: Alg): Promise<readonly VectorDraft[]> {
  const build = builder("manifest", alg);
  const many = await Promise.all([
    ...types(build, { iat: BAD_SECONDS, exp: BAD_SECONDS, seq: BAD_SECONDS, events: ["x", [{}]] }),
    ...issuer(build).slice(0, 3),
    ...times(build, NBF + 604_859),
  ]);
  return [...(await structure(build)), ...many];
}

export async function creditVectors(alg: Alg): Promise<readonly VectorDraft[]> {
  const build = builder("credit", alg);
  const { claims, vector, header, payload } = build;
  const many = await Promise.all([
    ...types(build, {
      sub: BAD_HASHES,
      jti: BAD_HASHES,
      n: BAD_NUMBERS,
      slot: BAD_SECONDS,
      iat: BAD_SECONDS,
      exp: BAD_SECONDS,
    }),
    ...issuer(build),
    ...audience(build),
    ...visitors(build),
    ...times(build, NBF + 3_600).filter((_, index) => index !== IAT_IN_MS),
    claims("TV-06: iat in milliseconds, after exp", { iat: NOW }, no("bad-claims")),
    claims(
      "jti of another number",
      { jti: admissionId(EVENT, ticketNumber(NUMBER + 1)) },
      no("bad-claims"),
    ),
    claims("jti of another event", { jti: admissionId("other", NUMBER) }, no("bad-claims")),
    claims("another number under the old jti", { n: NUMBER + 1 }, no("bad-claims")),
    claims(
      "exp - iat is a second more than a day",
      { exp: CREDIT_END + 1 },
      no("lifetime-too-long"),
    ),
    claims("exp is iat", { exp: NBF + 45 }, no("bad-claims")),
    claims("exp before iat", { exp: NBF + 44 }, no("bad-claims")),
    claims("a slot of long ago", { slot: 0 }, OK),
    claims("an action, as an admission has one, is ignored", { act: "purchase" }, OK),
    claims("an unknown claim is ignored", { more: 1 }, OK),
    claims("a nbf is ignored", { nbf: NBF + 9_000 }, OK),
  ]);
  const admission = builder("admission", alg);
  const long = await forge(header({}), payload({ more: "x".repeat(2_048) }));
  return [
    ...(await structure(build)),
    ...many,
    vector(
      "TV-09: the claims of an admission under a credit's typ",
      await forge(header({}), admission.payload({})),
      no("bad-claims"),
    ),
    vector("longer than 2,048 characters", long, no("malformed")),
  ];
}

/** How the vectors are put together: a good token of each kind, and differences to it. */
import { admissionId } from "@vestibule/token/admission-id";

import {
  EVENT,
  type Header,
  ISSUER,
  LIFETIME_SECONDS,
  NBF,
  NOW,
  NUMBER,
  SKEW_SECONDS,
  SUB,
  type TestKey,
  VISITOR,
  forge,
  headerOf,
} from "./forge.ts";
import type { Alg, Expected, Kind, VectorDraft, VectorOptions } from "../conformance/pack.ts";

/** Those of version 1.0: each is shown as each other. */
export const KINDS: readonly Kind[] = ["admission", "ticket", "drip", "manifest", "credit"];

export const EVENT_END = NBF + 86_400;
export const CREDIT_END = NBF + 45 + 86_400;

export const CLAIMS: Readonly<Record<Kind, Readonly<Record<string, unknown>>>> = {
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
  credit: {
    iss: ISSUER,
    aud: EVENT,
    sub: SUB,
    n: NUMBER,
    jti: admissionId(EVENT, NUMBER),
    slot: NBF,
    iat: NBF + 45,
    exp: CREDIT_END,
  },
  service: {
    ...{ iss: ISSUER, aud: EVENT, sub: "payments", jti: SUB },
    ...{ iat: NBF - 3_600, exp: EVENT_END },
  },
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

export const typOf = (kind: Kind) => `vst-${kind}+jwt`;
export const OK: Expected = { ok: true };
export const no = (reason: string, detail: object = {}): Expected => ({
  ok: false,
  reason,
  ...detail,
});

/** Builds vectors of one kind from the differences to the good one. `alg`: the name under which it is signed. */
export function builder(kind: Kind, alg: Alg) {
  const vector = (name: string, token: string, expected: Expected, options = {}): VectorDraft => ({
    name,
    token,
    options,
    expected,
  });
  const header = (change: Header, key?: TestKey): Header => ({
    ...headerOf(typOf(kind), key),
    alg,
    ...change,
  });
  return {
    kind,
    alg,
    vector,
    header,
    payload: (change: object) => ({ ...CLAIMS[kind], ...change }),
    /** Genuinely signed, with other claims (`undefined` leaves one out) or other options. */
    claims: async (name: string, change: object, expected: Expected, options = {}) =>
      vector(name, await forge(header({}), { ...CLAIMS[kind], ...change }), expected, options),
    /** Genuinely signed, with another header. */
    headed: async (name: string, change: Header, expected: Expected, key?: TestKey) =>
      vector(name, await forge(header(change, key), CLAIMS[kind], key), expected),
  };
}

export type Builder = ReturnType<typeof builder>;

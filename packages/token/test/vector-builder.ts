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
import type { Expected, Vector, VectorOptions } from "./vector.ts";

export const KINDS = ["admission", "ticket", "drip", "manifest", "credit"] as const;
export type Kind = (typeof KINDS)[number];

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

/** Builds vectors of one kind from the differences to the good one. */
export function builder(kind: Kind) {
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

export type Builder = ReturnType<typeof builder>;

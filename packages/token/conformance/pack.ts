/** The form of the pack's files, and of the lines that are made of them: `vectors/README.md` says the same in words. */

/** The two registered names of the one algorithm (RFC 9864, RFC 8037). */
export type Alg = "Ed25519" | "EdDSA";
export type Kind = "admission" | "ticket" | "drip" | "manifest" | "credit" | "service";

/** What the verifier is told besides token and keys. */
export interface VectorOptions {
  readonly issuer: string;
  readonly event: string;
  readonly lifetimeSeconds: number;
  readonly action: "purchase";
  /** `null`: the request shows none. */
  readonly visitor: string | null;
  readonly nowMs: number;
  readonly skewSeconds: number;
}

export interface Expected {
  readonly ok: boolean;
  readonly reason?: string;
  readonly issuedAt?: number;
  readonly validFrom?: number;
  readonly until?: number;
}

/** What its author writes of a vector; number, group and comment are given when the pack is written. */
export interface VectorDraft {
  readonly name: string;
  readonly token: string;
  /** Instead of the file's: any JSON, as the key endpoint answered. A text: what it answered was no JSON. */
  readonly jwks?: unknown;
  /** The key set that was in force until then. */
  readonly jwksBefore?: unknown;
  /** What differs from the file's `options`. */
  readonly options: Partial<VectorOptions>;
  readonly expected: Expected;
}

export interface Vector extends VectorDraft {
  readonly id: string;
  /** Version of the pack that brought it; unchanged from then on. */
  readonly since: string;
  readonly group: string;
  /** Why the answer is right. */
  readonly comment: string;
}

export interface VectorSet {
  readonly version: string;
  readonly set: string;
  readonly kind: Kind;
  readonly typ: string;
  readonly alg: Alg;
  readonly options: VectorOptions;
  readonly jwks: unknown;
  readonly vectors: readonly Vector[];
}

/** One question: what a verifier reads, as one line of JSON. The answer is not in it. */
export interface Question {
  readonly id: string;
  readonly kind: Kind;
  readonly typ: string;
  readonly token: string;
  readonly jwks: unknown;
  readonly jwksBefore?: unknown;
  readonly options: VectorOptions;
}

/** Names of the files in `vectors/`, in the order in which they are tried. */
export const SETS = [
  "admission",
  "key-set",
  "ticket",
  "drip",
  "manifest",
  "credit",
  "admission-eddsa",
  "key-set-eddsa",
  "service",
] as const;
export type SetName = (typeof SETS)[number];

/** The questions of a set, in its order. */
export function questionsOf(set: VectorSet): Question[] {
  return set.vectors.map((vector) => ({
    id: vector.id,
    kind: set.kind,
    typ: set.typ,
    token: vector.token,
    jwks: vector.jwks === undefined ? set.jwks : vector.jwks,
    ...(vector.jwksBefore === undefined ? {} : { jwksBefore: vector.jwksBefore }),
    options: { ...set.options, ...vector.options },
  }));
}

/** The form of the frozen vectors: `vectors/README.md` says the same in words. */
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

export interface Vector {
  readonly name: string;
  readonly token: string;
  /** What differs from the file's `options`. */
  readonly options: Partial<VectorOptions>;
  readonly expected: Expected;
}

export interface VectorFile {
  readonly typ: string;
  readonly options: VectorOptions;
  readonly jwks: { readonly keys: readonly unknown[] };
  readonly vectors: readonly Vector[];
}

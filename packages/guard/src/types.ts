/**
 * The public types. They import nothing: this file's declarations go out as they are, and must stand
 * alone in a shop that has no other package of Vestibule.
 */

/** The platform's own `Response`, whichever declarations the shop uses (DOM, Node, workers). */
export type WebResponse = typeof globalThis extends { Response: { prototype: infer Instance } }
  ? Instance
  : { readonly status: number };

/** The platform's own `Request`. */
export type WebRequest = typeof globalThis extends { Request: { prototype: infer Instance } }
  ? Instance extends RequestLike
    ? Instance
    : RequestLike
  : RequestLike;

/** The platform's own `fetch`. */
export type WebFetch = typeof globalThis extends { fetch: infer Fetch }
  ? Fetch
  : (url: string, init: never) => Promise<WebResponse>;

/** The part of a request that is looked at: a web-standard `Request` is one. Its body stays untouched. */
export interface RequestLike {
  readonly headers: { get(name: string): string | null };
}

export interface GuardOptions {
  /**
   * Base addresses of the mints, the preferred one first (at most 8): where keys, terms and holds
   * come from.
   */
  readonly mintUrls: string | readonly string[];
  /** The `iss` that every token and statement must carry: `VESTIBULE_ISSUER` of the mint. */
  readonly issuer: string;
  /**
   * The sale whose admissions are taken here. With several, `admission.event` says which one it is,
   * and the shop compares it with what is being bought. Left out, each `check` names its own.
   */
  readonly event?: string | readonly string[];
  /** Base address of the purchase API. Only `spend` needs it. */
  readonly purchaseUrl?: string;
  /** `VESTIBULE_SHOP_TOKEN` of the purchase API, a secret: only a `spend` for a `user` needs it. */
  readonly shopToken?: string;
  /** Tolerance between the mint's clock and this one, whole seconds, 0 to 60. Default 5. */
  readonly skewSeconds?: number;
  /**
   * How long `spend` waits for its answer, milliseconds, 100 to 60,000. Default 15,000: the purchase API has
   * answered within 12,000. With less, an answer that was on its way is `away`.
   */
  readonly spendDeadlineMs?: number;
  /** Told when an answer of a mint was not taken. What was known before stays in use. */
  readonly onAlarm?: (alarm: GuardAlarm) => void;
  /** Instead of the platform's `fetch`: for a proxy, or for tracing. */
  readonly fetch?: WebFetch;
  /** Instead of the machine's clock: epoch milliseconds. For tests. */
  readonly now?: () => number;
}

/** `thing`: `keys`, `manifest` or `drip:<event>`. Nothing of the answer is repeated. */
export interface GuardAlarm {
  readonly thing: string;
  readonly url: string;
  readonly reason: string;
}

export interface CheckOptions {
  /**
   * The sale that this request buys in. Without it, the guard's own `event`; when the guard has some, it
   * must be one of them.
   */
  readonly event?: string | undefined;
  /** `ctx.waitUntil` where the runtime has one: a refresh may outlive the request then. */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined;
}

/** What every adapter takes; `Request` is the framework's own. */
export interface AdapterOptions<Request> {
  /** The sale that a request buys in, from its path for example. What is no text refuses the request. */
  readonly event?: (request: Request) => string | readonly string[] | undefined;
}

/** What a genuine admission says. Moments are epoch milliseconds. */
export interface Admission {
  readonly event: string;
  /** The place in line. */
  readonly number: number;
  /** The admission's identity: what is spent, once. The text of a token never is. */
  readonly jti: string;
  /** SHA-256 of the visitor's secret, base64url: the same fan, without the secret. */
  readonly visitor: string;
  readonly opensAt: number;
  /** The first moment in which the slot is over, before tolerance. */
  readonly closesAt: number;
}

export interface Admitted {
  readonly ok: true;
  readonly admission: Admission;
}

export interface Refused {
  readonly ok: false;
  /**
   * For the client: `401 admission-required`, `503 held` or `503 unavailable`, a problem document
   * (RFC 9457). One and the same for everything that could not be verified.
   */
  readonly response: WebResponse;
  readonly status: 401 | 503;
  /** Whole seconds, with a 503. Also in the response's `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** For logs only: never tell the client. */
  readonly reason: RefusalReason;
}

export type RefusalReason =
  /** No `Vestibule-Admission`, or no well-formed `Vestibule-Visitor`, or one of them twice. */
  | "missing"
  /** The mint lists no such sale, it is none of this guard's, or the name cannot be one. */
  | "unknown-event"
  /** Nothing is known of the mint, or its keys are too old to be relied on: 503. */
  | "mint-unknown"
  /** The sale is paused, and this slot or every purchase with it: 503. */
  | "held"
  /** The slot was cut by a pause that is over: the fan claims again. */
  | "cut"
  | TokenReason;

/** What the verifier says of a token. */
export type TokenReason =
  | "malformed"
  | "forbidden-header"
  | "wrong-algorithm"
  | "wrong-type"
  | "unknown-key"
  | "key-over"
  | "bad-signature"
  /** This runtime has no Ed25519: 503. */
  | "cannot-verify"
  | "bad-claims"
  | "wrong-issuer"
  | "wrong-audience"
  | "wrong-action"
  | "wrong-visitor"
  | "lifetime-too-long"
  | "issued-in-future"
  | "too-early"
  | "over";

/** The two headers as the edge set them: to spend elsewhere than where the request was checked. */
export interface Credentials {
  readonly event: string;
  /** `Vestibule-Admission` */
  readonly admission: string;
  /** `Vestibule-Visitor`: a secret of the fan's. Never log it. */
  readonly visitor: string;
}

export interface SpendOptions {
  /**
   * 1 to 200 visible ASCII characters, chosen once for each attempt to buy by your server, and kept there with the
   * cart: never taken from what a browser sends.
   * The same key with the same admission gets the same answer, however often it is asked.
   */
  readonly idempotencyKey: string;
  /**
   * The shop's own name for the user that it authenticated, 1 to 200 visible ASCII characters: then the user's
   * bucket limits how fast they ask, on whatever device. Needs `shopToken`. An opaque id, never an e-mail address
   * or a telephone number: what is kept of it is a plain hash, and whoever reads that can try addresses.
   */
  readonly user?: string | undefined;
}

export interface Spend {
  readonly event: string;
  readonly jti: string;
  readonly number: number;
  /** Epoch milliseconds. */
  readonly spentAt: number;
}

export type SpendOutcome =
  /**
   * Yours: sell, once. The same answer comes to every repetition with the same key, so `spent` again is the
   * same sale and not another: let `jti` be the identity of your order (its primary key).
   */
  | { readonly kind: "spent"; readonly jti: string; readonly spend: Spend }
  /** Used before, with another key: do not sell. */
  | { readonly kind: "already-spent" }
  /** The sale is paused. Nothing is spent. */
  | { readonly kind: "held"; readonly retryAfterMs: number }
  /** Nothing is spent. */
  | { readonly kind: "too-many-requests"; readonly retryAfterMs: number }
  /**
   * This spent nothing, and asking again in the same way does not help. `code` is for logs. With
   * `idempotency-mismatch` the key belongs to something else that was asked before, which may have spent it.
   */
  | { readonly kind: "refused"; readonly status: number; readonly code: string }
  /**
   * Perhaps spent, perhaps not: no answer, or none that can be relied on. Do not sell yet; ask again
   * with the **same** key. `reason` is for logs.
   */
  | {
      readonly kind: "away";
      readonly reason: "unreachable" | "timeout" | "in-progress" | "unavailable" | "rubbish";
      readonly retryAfterMs: number;
      /** For the fan, when the purchase API gave one: proof that it was no fault of theirs. */
      readonly credit?: string;
    };

export interface Guard {
  /**
   * Is this request's admission good, now, for this sale and this visitor? Reads two headers and
   * nothing else. Denies by default. Never rejects for anything that a client can send.
   *
   * @throws TypeError when neither the guard nor the call names a sale.
   */
  check(request: RequestLike, options?: CheckOptions): Promise<Admitted | Refused>;
  /**
   * Records the bare spend at the purchase API, `POST /v1/events/{event}/spends`. One request, no
   * retry of its own. Never rejects for anything that the other side does.
   *
   * @param admission what `check` gave, or the two headers themselves.
   * @throws TypeError without `purchaseUrl`, for an idempotency key or user that cannot be one, for a user
   * without `shopToken`, and for an admission that is no value of `check` (a copy has no token).
   */
  spend(admission: Admission | Credentials, options: SpendOptions): Promise<SpendOutcome>;
  /** True once keys and terms are known: for a readiness check. Asks nobody. */
  isReady(): boolean;
  /**
   * Keeps what is known of the mint fresh in the background, in a process that lives long. Not needed:
   * it spares the first request after a quiet time one round trip. Holds no process open.
   */
  start(): void;
  /** Ends `start`. The guard goes on working. */
  close(): void;
}

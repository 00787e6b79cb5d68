import type { EpochMs, EpochSeconds } from "@vestibule/kernel/units";
import type { StatementSigner } from "./lead/line-term.ts";

/** A visitor as the mint knows them: the hash of their secret, as text and as eight words. */
export interface Sub {
  readonly text: string;
  readonly words: Uint32Array;
}

/** What a ticket says, besides its issuer. */
export interface TicketClaims {
  readonly event: string;
  readonly sub: string;
  readonly n: number;
  readonly iat: EpochSeconds;
  readonly exp: EpochSeconds;
}

/** What the core needs of keys and tokens. */
export interface Tokens extends StatementSigner {
  subOf(visitor: string): Sub;
  ticket(claims: TicketClaims): Promise<string>;
  /** Of a batch, from number `first` on: a `PremintAnswer` as JSON in UTF-8. */
  tickets(batch: {
    readonly event: string;
    readonly first: number;
    readonly subs: readonly string[];
    readonly iat: EpochSeconds;
    readonly exp: EpochSeconds;
  }): Promise<Uint8Array<ArrayBuffer>>;
  admission(claims: {
    readonly event: string;
    readonly sub: string;
    readonly n: number;
    readonly iat: EpochSeconds;
    readonly opensAt: EpochMs;
    readonly lifetimeSeconds: number;
  }): Promise<string>;
  /** The mint's clock, for one question: `at` was read just now. */
  time(answer: { readonly nonce: string; readonly at: EpochMs }): Promise<string>;
  service(claims: {
    readonly event: string;
    readonly name: string;
    readonly jti: string;
    readonly iat: EpochSeconds;
    readonly exp: EpochSeconds;
  }): Promise<string>;
  /** The number of a genuine ticket of this visitor, also when the event's end was moved since. */
  readTicket(
    text: string,
    expected: { readonly event: string; readonly visitor: string; readonly now: EpochMs },
  ): Promise<{ readonly ok: true; readonly n: number } | { readonly ok: false }>;
}

/** Token mode: an app that keeps no cookies keeps what it was given, and shows it in headers. */
import type { EdgeClaimAnswer, EdgeJoinAnswer } from "@vestibule/contracts/line-api";
import {
  ADMISSION_HEADER,
  CREDIT_HEADER,
  MODE_HEADER,
  TICKET_HEADER,
  VISITOR_HEADER,
} from "@vestibule/contracts/names";

/** Secrets of one visitor and one event: kept where the app keeps passwords, and never logged. */
export interface Tokens {
  readonly visitor?: string | undefined;
  readonly ticket?: string | undefined;
  readonly admission?: string | undefined;
  /** Given by the purchase API when a purchase failed by a fault of ours. */
  readonly credit?: string | undefined;
}

/** Where an app keeps them: it must outlive the app's own restart, or the place is lost. */
export interface TokenStore {
  read(): Tokens;
  write(tokens: Tokens): void;
}

export class TokenKeeper {
  readonly #store: TokenStore;

  constructor(store: TokenStore) {
    this.#store = store;
  }

  /** What is shown with every request but the drip's. */
  headers(): Readonly<Record<string, string>> {
    const { visitor, ticket, admission, credit } = this.#store.read();
    const shown = [
      [MODE_HEADER, "token"],
      [VISITOR_HEADER, visitor],
      [TICKET_HEADER, ticket],
      [ADMISSION_HEADER, admission],
      [CREDIT_HEADER, credit],
    ] as const;
    const headers: Record<string, string> = {};
    for (const [name, value] of shown) if (value !== undefined) headers[name] = value;
    return headers;
  }

  /** A new ticket is another place: what was for the old one goes. */
  joined({ visitor, ticket }: EdgeJoinAnswer): void {
    const known = this.#store.read();
    if (ticket !== known.ticket) this.#store.write({ visitor, ticket });
  }

  /** A name, and no place yet. */
  named(visitor: string): void {
    this.#store.write({ ...this.#store.read(), visitor });
  }

  claimed({ admission }: EdgeClaimAnswer): void {
    this.#store.write({ ...this.#store.read(), admission });
  }

  creditSpent(): void {
    this.#store.write({ ...this.#store.read(), credit: undefined });
  }

  left(): void {
    this.#store.write({});
  }
}

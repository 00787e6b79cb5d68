/** Token mode: an app that keeps no cookies keeps what it was given, and shows it in headers. */
import {
  ADMISSION_HEADER,
  CREDIT_HEADER,
  MODE_HEADER,
  TICKET_HEADER,
  VISITOR_HEADER,
} from "@vestibule/contracts/names";
import type { LinePorts, Refusal } from "./line-client.ts";

/** Secrets of one visitor and one event: kept where the app keeps passwords, and never logged. */
export interface Tokens {
  readonly visitor?: string | undefined;
  readonly ticket?: string | undefined;
  readonly admission?: string | undefined;
  /** Given by the purchase API when a purchase failed by a fault of ours. */
  readonly credit?: string | undefined;
}

/** Where an app keeps them: what does not outlive its restart is a place that is lost. */
export interface TokenStore {
  read(): Tokens;
  write(tokens: Tokens): void;
}

/**
 * Ports of a line client that shows tokens instead of cookies, and keeps those that it is given.
 *
 * @param origin of the site that the sale is on: `https://shop.example`
 */
export function withTokens(ports: LinePorts, origin: string, store: TokenStore): LinePorts {
  return {
    now: () => ports.now(),
    async fetch(path, request) {
      // The drip is the same for everyone, and shows nobody.
      const isOwn = request.credentials !== "omit";
      const response = await ports.fetch(origin + path, {
        ...request,
        credentials: "omit",
        headers: { ...request.headers, ...(isOwn ? headersOf(store.read()) : {}) },
      });
      // The slot is over, and no credit makes it good.
      if (isOwn && response.status === 410) store.write({ ...store.read(), credit: undefined });
      if (isOwn && response.ok) keep(store, request.method === "DELETE" ? undefined : response);
      if (response.status !== 428) return response;
      // Work is to be done before a join, and by this visitor: a name, and no place yet.
      const body = (await response.json()) as Pick<Refusal, "visitor">;
      if (body.visitor !== undefined) store.write({ ...store.read(), visitor: body.visitor });
      const { ok, status, headers } = response;
      return { ok, status, headers, json: () => Promise.resolve(body) };
    },
  };
}

function headersOf({ visitor, ticket, admission, credit }: Tokens): Record<string, string> {
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

/** @param given the answer to a join or a claim; `undefined`: the place was left */
function keep(
  store: TokenStore,
  given: { readonly headers: { get(name: string): string | null } } | undefined,
): void {
  const known = given === undefined ? {} : store.read();
  const visitor = given?.headers.get(VISITOR_HEADER) ?? known.visitor;
  const ticket = given?.headers.get(TICKET_HEADER) ?? known.ticket;
  const admission = given?.headers.get(ADMISSION_HEADER) ?? undefined;
  // A new ticket is another place: what was for the old one goes.
  const old = ticket === known.ticket ? known : {};
  store.write({ ...old, visitor, ticket, admission: admission ?? old.admission });
}

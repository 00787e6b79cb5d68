/** Tickets of a whole batch, as the bytes of the answer that holds them: made where nothing else waits. */
import type { EpochSeconds } from "@vestibule/kernel/units";
import type { SigningKey } from "@vestibule/keys/signing-key";
import { subtle } from "@vestibule/keys/webcrypto";
import { BULK_SIGNATURES_AT_ONCE } from "../limits.ts";
import { ticketInput } from "./ticket-signer.ts";

/** All that a thread needs: the key is not extractable there either. */
export interface BulkOrder {
  readonly issuer: string;
  readonly key: SigningKey;
  readonly event: string;
  /** Number of the first of `subs`; the others follow. */
  readonly first: number;
  readonly subs: readonly string[];
  readonly iat: EpochSeconds;
  readonly exp: EpochSeconds;
}

/** @returns a `PremintAnswer` as JSON in UTF-8. */
export type BulkTickets = (order: BulkOrder) => Promise<Uint8Array<ArrayBuffer>>;

const [QUOTE, COMMA, DOT, BRACKET, BRACE] = Buffer.from('",.]}') as unknown as readonly [
  number,
  number,
  number,
  number,
  number,
];
/** Of a signature in base64url. */
const SIGNATURE_CHARS = 86;
/** Around each ticket: two quotes and a comma. */
const JSON_CHARS = 3;

/**
 * In this thread. A bounded part of the signatures is under way at a time, so that the joins of that moment get
 * their turn at the runtime's threads. Each text is written once, where it stays: what is signed is signed there.
 */
export const bulkTickets: BulkTickets = async (order) => {
  const { issuer, key, event, first, subs, iat, exp } = order;
  const inputOf = ticketInput(issuer);
  const input = (index: number): string =>
    inputOf(key, { event, sub: subs[index] ?? "", n: first + index, iat, exp });
  const head = `{"first":${first},"tickets":[`;
  // The last number is the longest.
  const charsMax = input(subs.length - 1).length + 1 + SIGNATURE_CHARS + JSON_CHARS;
  const answer = Buffer.alloc(head.length + subs.length * charsMax + 1);
  let length = answer.write(head, "latin1");
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < subs.length) {
      const from = length + 1;
      const until = from + answer.write(input(next), from, "latin1");
      answer[length] = QUOTE;
      length = until + 1 + SIGNATURE_CHARS;
      answer[until] = DOT;
      answer[length++] = QUOTE;
      next += 1;
      answer[length++] = next === subs.length ? BRACKET : COMMA;
      const signature = await subtle.sign("Ed25519", key.key, answer.subarray(from, until));
      answer.write(Buffer.from(signature).toString("base64url"), until + 1, "latin1");
    }
  };
  await Promise.all(Array.from({ length: BULK_SIGNATURES_AT_ONCE }, lane));
  answer[length++] = BRACE;
  return answer.subarray(0, length);
};

import type { KeySet } from "@vestibule/keys/key-set";
import type { EpochMs } from "@vestibule/kernel/units";
import { createBoundedMemo } from "./bounded-memo.ts";
import { MEMO_CHARS_MAX, MEMO_ENTRIES_MAX } from "../limits.ts";

/** What was verified: the exact texts, and the claims. Never a verdict: time and keys are asked again. */
export interface Verified<Claims> {
  readonly visitor: string;
  readonly claims: Claims;
  readonly kid: string;
}

/**
 * Signatures that were good, by the exact text of the token, bounded in entries and characters; the
 * oldest go first. A hit needs the exact text of the visitor's secret as well.
 */
export interface TokenMemo<Claims> {
  get(token: string, visitor: string): Verified<Claims> | undefined;
  put(token: string, verified: Verified<Claims>): void;
  delete(token: string): void;
}

export function createTokenMemo<Claims>(
  bounds: { entriesMax: number; charsMax: number } = {
    entriesMax: MEMO_ENTRIES_MAX,
    charsMax: MEMO_CHARS_MAX,
  },
): TokenMemo<Claims> {
  const memo = createBoundedMemo<Verified<Claims>>(bounds);
  return {
    get(token, visitor) {
      const found = memo.get(token);
      return found !== undefined && found.visitor === visitor ? found : undefined;
    },
    put: (token, verified) => memo.put(token, verified, token.length + verified.visitor.length),
    delete: (token) => memo.delete(token),
  };
}

/** A remembered signature counts only while its key is in the set and has not retired (TV-12, KR-07). */
export function isInForce(keys: KeySet | undefined, kid: string, now: EpochMs): boolean {
  const key = keys?.get(kid);
  return key !== undefined && (key.until === undefined || now < key.until * 1000);
}

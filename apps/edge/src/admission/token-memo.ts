import type { KeySet } from "@vestibule/keys/key-set";
import type { EpochMs } from "@vestibule/kernel/units";
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
  readonly size: number;
}

export function createTokenMemo<Claims>(
  bounds: { entriesMax: number; charsMax: number } = {
    entriesMax: MEMO_ENTRIES_MAX,
    charsMax: MEMO_CHARS_MAX,
  },
): TokenMemo<Claims> {
  const entries = new Map<string, Verified<Claims>>();
  let chars = 0;
  const drop = (token: string, verified: Verified<Claims>) => {
    entries.delete(token);
    chars -= token.length + verified.visitor.length;
  };
  return {
    get(token, visitor) {
      const found = entries.get(token);
      return found !== undefined && found.visitor === visitor ? found : undefined;
    },
    put(token, verified) {
      const known = entries.get(token);
      if (known !== undefined) drop(token, known);
      entries.set(token, verified);
      chars += token.length + verified.visitor.length;
      for (const [oldest, entry] of entries) {
        if (entries.size <= bounds.entriesMax && chars <= bounds.charsMax) break;
        drop(oldest, entry);
      }
    },
    delete(token) {
      const known = entries.get(token);
      if (known !== undefined) drop(token, known);
    },
    get size() {
      return entries.size;
    },
  };
}

/** A remembered signature counts only while its key is in the set and has not retired (TV-12, KR-07). */
export function isInForce(keys: KeySet | undefined, kid: string, now: EpochMs): boolean {
  const key = keys?.get(kid);
  return key !== undefined && (key.until === undefined || now < key.until * 1000);
}

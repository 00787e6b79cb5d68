/** Credits of the purchase API, read with its own keys: the mint's never verify one. */
import type { KeySet } from "@vestibule/keys/key-set";
import type { EpochMs } from "@vestibule/kernel/units";
import { type Credit, verifyCredit } from "@vestibule/token/verify-credit";

/** The credit when it is genuine and this visitor's, for this event, now; `undefined` otherwise. */
export type CreditReader = (
  text: string,
  expected: { readonly event: string; readonly visitor: string; readonly now: EpochMs },
) => Promise<Credit | undefined>;

/** @param options.keys `undefined`: none are configured, and no credit counts. */
export function creditReader(options: {
  readonly keys: KeySet | undefined;
  readonly issuer: string;
  readonly skewSeconds: number;
}): CreditReader {
  const { keys, issuer, skewSeconds } = options;
  return async (text, expected) => {
    if (keys === undefined) return undefined;
    const read = await verifyCredit(text, { ...expected, keys, issuer, skewSeconds });
    return read.ok ? read.value : undefined;
  };
}

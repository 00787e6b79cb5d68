/** Rules that several kinds of token share (design section 4). */
import { HASH_TEXT } from "@vestibule/contracts/hash-text";
import { SKEW_SECONDS_MAX } from "@vestibule/contracts/limits";
import { assert } from "@vestibule/kernel/assert";
import {
  type EpochMs,
  type EpochSeconds,
  type TicketNumber,
  toSeconds,
} from "@vestibule/kernel/units";

import type { TokenRefusal } from "./refusal.ts";

export interface TimeOptions {
  /** The verifier's clock: one reading per request. */
  readonly now: EpochMs;
  /** Tolerance between signer and verifier, whole seconds, 0 to 60. */
  readonly skewSeconds: number;
}

/** @throws AssertionError when the tolerance or the clock reading is not what the rules can work with (NaN would let everything pass). */
export function assertTimeOptions({ now, skewSeconds }: TimeOptions): void {
  assert(Number.isSafeInteger(now) && now >= 0, "now is epoch milliseconds");
  assert(
    Number.isInteger(skewSeconds) && skewSeconds >= 0 && skewSeconds <= SKEW_SECONDS_MAX,
    "the tolerance is a whole number of seconds within its bounds",
  );
}

/** A NumericDate of ours: whole seconds, 0 or later. */
export function isSeconds(value: unknown): value is EpochSeconds {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** A place in line: 1 or higher. */
export function isNumber(value: unknown): value is TicketNumber {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

/** base64url of 32 bytes: the form of `sub`, `jti` and of a visitor's secret. */
export function isHash(value: unknown): value is string {
  return typeof value === "string" && HASH_TEXT.test(value);
}

/** Refused: `iat > now + skew`, `nbf > now + skew`, `now >= exp + skew`, in this order. */
export function refuseByTime(
  claims: {
    readonly iat: EpochSeconds;
    readonly nbf?: EpochSeconds;
    readonly exp: EpochSeconds;
  },
  { now, skewSeconds }: TimeOptions,
): TokenRefusal | undefined {
  const seconds = toSeconds(now);
  const latest = seconds + skewSeconds;
  if (claims.iat > latest) return { reason: "issued-in-future", issuedAt: claims.iat };
  if (claims.nbf !== undefined && claims.nbf > latest)
    return { reason: "too-early", validFrom: claims.nbf };
  if (seconds >= claims.exp + skewSeconds) return { reason: "over", until: claims.exp };
  return undefined;
}

/** Is this fan admitted? Verified without a mint and, the second time, without a signature check. */
import type { ManifestEvent } from "@vestibule/contracts/statements";
import type { KnownDrip, MintFeed } from "@vestibule/feed/mint-feed";
import type { EpochMs, EpochSeconds } from "@vestibule/kernel/units";
import { refuseByTime } from "@vestibule/token/claims";
import { cutOf } from "@vestibule/token/cuts";
import { type Admission, verifyAdmission } from "@vestibule/token/verify-admission";
import type { Credentials } from "./credentials.ts";
import { type Verified, createTokenMemo, isInForce } from "./token-memo.ts";

export type AdmissionCheck =
  | {
      readonly kind: "admitted";
      readonly admission: string;
      readonly visitor: string;
      readonly claims: Admission;
    }
  /** Too early by the tolerance, and good from this second on; whose it is is asked then. */
  | { readonly kind: "early"; readonly validFrom: EpochSeconds }
  /** Good, and its slot was cut by a hold that lasts (`held`) or has ended (`cut`). */
  | { readonly kind: "held" | "cut" }
  /** Our own clock is surely wrong: what is valid and what is over cannot be told apart. */
  | { readonly kind: "wrong-clock" }
  /** This runtime could not verify at all (KR-09): our fault, answered 503. */
  | { readonly kind: "cannot-verify" }
  /** Absent or bad: one dull answer for all of it. */
  | { readonly kind: "none" };

const NONE: AdmissionCheck = { kind: "none" };
const WRONG_CLOCK: AdmissionCheck = { kind: "wrong-clock" };

export interface Admissions {
  /** Without a promise when this isolate has verified the same admission and knows a drip. */
  check(
    credentials: Credentials,
    event: ManifestEvent,
    now: EpochMs,
  ): AdmissionCheck | Promise<AdmissionCheck>;
}

interface Shown {
  readonly admission: string;
  readonly visitor: string;
}

interface Asked {
  readonly event: ManifestEvent;
  readonly now: EpochMs;
}

export function createAdmissions(
  feed: MintFeed,
  { issuer, skewSeconds }: { issuer: string; skewSeconds: number },
): Admissions {
  const memo = createTokenMemo<Admission>();

  return {
    check({ admission, visitor }, event, now) {
      // The one place where somebody is admitted: design section 10.
      if (feed.clock.isWrong) return WRONG_CLOCK;
      if (admission === undefined || visitor === undefined) return NONE;
      const shown = { admission, visitor };
      const asked = { event, now };
      const known = memo.get(admission, visitor);
      if (known === undefined) return verify(shown, asked);
      return refuseKnown(shown, known, asked) ?? byDrip(shown, known.claims, asked);
    },
  };

  async function verify(shown: Shown, { event, now }: Asked): Promise<AdmissionCheck> {
    const { admission, visitor } = shown;
    for (let refreshed = false; ; refreshed = true) {
      const keys = feed.keys(now);
      if (keys === undefined) return NONE;
      const read = await verifyAdmission(admission, {
        ...{ keys, issuer, visitor, now, skewSeconds },
        event: event.event,
        lifetimeSeconds: event.lifetimeSeconds,
        action: "purchase",
      });
      if (read.ok) {
        memo.put(admission, { visitor, claims: read.value, kid: read.value.kid });
        return byDrip(shown, read.value, { event, now });
      }
      const { refusal } = read;
      const { reason } = refusal;
      if (reason === "cannot-verify") return { kind: "cannot-verify" };
      if (reason === "too-early") return { kind: "early", validFrom: refusal.validFrom };
      // At most one request per cool-down asks the mint; everybody else is denied from memory (KR-01).
      if (reason !== "unknown-key" || refreshed || !(await feed.newerKeys(now))) return NONE;
    }
  }

  /** What may have changed since the signature was found good. */
  function refuseKnown(
    { admission }: Shown,
    { claims, kid }: Verified<Admission>,
    { event, now }: Asked,
  ): AdmissionCheck | undefined {
    const refusal = refuseByTime(claims, { now, skewSeconds });
    if (refusal?.reason === "over") memo.delete(admission);
    if (refusal?.reason === "too-early") return { kind: "early", validFrom: refusal.validFrom };
    if (refusal !== undefined) return NONE;
    if (claims.event !== event.event) return NONE;
    if (claims.exp - claims.nbf > event.lifetimeSeconds) return NONE;
    return isInForce(feed.keys(now), kid, now) ? undefined : NONE;
  }

  /**
   * A location that knows nothing of this event's holds looks once. When no mint answers it goes by the
   * token alone: those already admitted go on (laws 5 and 9).
   */
  function byDrip(
    shown: Shown,
    claims: Admission,
    { event, now }: Asked,
  ): AdmissionCheck | Promise<AdmissionCheck> {
    const drip = feed.drip(event.event);
    if (drip !== undefined) return byCuts(shown, claims, drip);
    return feed
      .whenKnown(`drip:${event.event}`, now)
      .then(() => byCuts(shown, claims, feed.drip(event.event)));
  }

  function byCuts(
    { admission, visitor }: Shown,
    claims: Admission,
    drip: KnownDrip | undefined,
  ): AdmissionCheck {
    const cut = cutOf(claims, drip?.claims);
    return cut === undefined ? { kind: "admitted", admission, visitor, claims } : { kind: cut };
  }
}

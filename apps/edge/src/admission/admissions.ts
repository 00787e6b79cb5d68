/** Is this fan admitted? Verified without a mint and, the second time, without a signature check. */
import type { DripClaims, ManifestEvent } from "@vestibule/contracts/statements";
import type { MintFeed } from "@vestibule/feed/mint-feed";
import type { EpochMs } from "@vestibule/kernel/units";
import { refuseByTime } from "@vestibule/token/claims";
import { type Admission, verifyAdmission } from "@vestibule/token/verify-admission";
import type { Credentials } from "./credentials.ts";
import { cutOf } from "./cuts.ts";
import { createTokenMemo, isInForce } from "./token-memo.ts";

export type AdmissionCheck =
  | {
      readonly kind: "admitted";
      readonly admission: string;
      readonly visitor: string;
      readonly claims: Admission;
    }
  /** Good, and too early by the tolerance. */
  | { readonly kind: "early" }
  /** Good, and its slot was cut by a hold that lasts (`held`) or has ended (`cut`). */
  | { readonly kind: "held" | "cut" }
  /** This runtime could not verify at all (KR-09): our fault, answered 503. */
  | { readonly kind: "cannot-verify" }
  /** Absent or bad: one dull answer for all of it. */
  | { readonly kind: "none" };

const NONE: AdmissionCheck = { kind: "none" };

export interface Admissions {
  check(credentials: Credentials, event: ManifestEvent, now: EpochMs): Promise<AdmissionCheck>;
}

export function createAdmissions(
  feed: MintFeed,
  { issuer, skewSeconds }: { issuer: string; skewSeconds: number },
): Admissions {
  const memo = createTokenMemo<Admission>();

  const verify = async (
    { admission, visitor }: { admission: string; visitor: string },
    event: ManifestEvent,
    now: EpochMs,
  ): Promise<AdmissionCheck | Admission> => {
    for (let asked = false; ; asked = true) {
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
        return read.value;
      }
      const { reason } = read.refusal;
      if (reason === "cannot-verify") return { kind: "cannot-verify" };
      if (reason === "too-early") return { kind: "early" };
      // At most one request per cool-down asks the mint; everybody else is denied from memory (KR-01).
      if (reason !== "unknown-key" || asked || !feed.mayAskForUnknownKey(now)) return NONE;
      await feed.refresh("keys", now);
    }
  };

  return {
    async check({ admission, visitor }, event, now) {
      if (admission === undefined || visitor === undefined) return NONE;
      const known = memo.get(admission, visitor);
      let claims: Admission;
      if (known === undefined) {
        const read = await verify({ admission, visitor }, event, now);
        if ("kind" in read) return read;
        claims = read;
      } else {
        claims = known.claims;
        const refusal = refuseByTime(claims, { now, skewSeconds });
        if (refusal?.reason === "over") memo.delete(admission);
        if (refusal !== undefined) return refusal.reason === "too-early" ? { kind: "early" } : NONE;
        if (claims.event !== event.event) return NONE;
        if (claims.exp - claims.nbf > event.lifetimeSeconds) return NONE;
        if (!isInForce(feed.keys(now), known.kid, now)) return NONE;
      }
      const drip = await knownDrip(feed, event.event, now);
      const cut = cutOf(claims, drip);
      return cut === undefined ? { kind: "admitted", admission, visitor, claims } : { kind: cut };
    },
  };
}

/**
 * A location that knows nothing of this event's holds looks once. When no mint answers it goes by the
 * token alone: those already admitted go on (laws 5 and 9).
 */
async function knownDrip(
  feed: MintFeed,
  event: string,
  now: EpochMs,
): Promise<DripClaims | undefined> {
  const known = feed.drip(event);
  if (known !== undefined) return known.claims;
  await feed.whenKnown(`drip:${event}`, now);
  return feed.drip(event)?.claims;
}

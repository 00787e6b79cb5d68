/** This visitor's place in line, verified here, and what the drip says about it. */
import type { ManifestEvent } from "@vestibule/contracts/statements";
import { slotOf } from "@vestibule/drip/line";
import { type SlotTimes, slotTimes } from "@vestibule/drip/slot";
import type { KnownDrip, MintFeed } from "@vestibule/feed/mint-feed";
import { type EpochMs, toMs, toSeconds } from "@vestibule/kernel/units";
import { refuseByTime } from "@vestibule/token/claims";
import { type Ticket, verifyTicket } from "@vestibule/token/verify-ticket";
import { OUTGROWN_SECONDS } from "../limits.ts";
import type { AdmissionCheck } from "./admissions.ts";
import type { Credentials } from "./credentials.ts";
import { createTokenMemo, isInForce } from "./token-memo.ts";

export interface Place {
  readonly ticket: string;
  readonly visitor: string;
  readonly number: number;
  /** Whole seconds. */
  readonly issuedAt: number;
  /** The event was extended after this was signed: the mint signs the place anew, until the new end. */
  readonly outgrown: boolean;
}

export interface Tickets {
  /**
   * A ticket runs until the event's end as it was when it was signed. An event that was extended
   * takes nobody's place: while it goes on, so does the ticket (law 2), as long as its key does.
   */
  check(credentials: Credentials, event: ManifestEvent, now: EpochMs): Promise<Place | undefined>;
}

export function createTickets(
  feed: MintFeed,
  { issuer, skewSeconds }: { issuer: string; skewSeconds: number },
): Tickets {
  const memo = createTokenMemo<Ticket>();
  return {
    async check({ ticket, visitor }, event, now) {
      if (ticket === undefined || visitor === undefined) return undefined;
      const place = (read: Ticket): Place | undefined => {
        if (read.kind !== "numbered") return undefined;
        const outgrown = (read.exp + OUTGROWN_SECONDS) * 1000 < event.endsAt;
        return { ticket, visitor, number: read.number, issuedAt: read.iat, outgrown };
      };
      const goesOn = now < event.endsAt;
      const known = memo.get(ticket, visitor);
      if (known !== undefined) {
        const { claims, kid } = known;
        const refusal = refuseByTime(claims, { now, skewSeconds });
        const inTime = refusal === undefined || (refusal.reason === "over" && goesOn);
        const good = claims.event === event.event && isInForce(feed.keys(now), kid, now);
        return inTime && good ? place(claims) : undefined;
      }
      for (let asked = false; ; asked = true) {
        const keys = feed.keys(now);
        if (keys === undefined) return undefined;
        const options = { keys, issuer, event: event.event, visitor, now, skewSeconds };
        let read = await verifyTicket(ticket, options);
        // Its key was in force now; everything else is asked as of its own last second.
        if (!read.ok && read.refusal.reason === "over" && goesOn) {
          read = await verifyTicket(ticket, { ...options, now: toMs(read.refusal.until) });
        }
        if (read.ok) {
          memo.put(ticket, { visitor, claims: read.value, kid: read.value.kid });
          return place(read.value);
        }
        const unknown = read.refusal.reason === "unknown-key";
        if (!unknown || asked || !(await feed.newerKeys(now))) return undefined;
      }
    },
  };
}

export type Turn =
  /** Behind the committed numbers: nobody needs to ask the mint. */
  | { readonly kind: "waiting" }
  | ({ readonly kind: "committed" } & SlotTimes)
  /** A hold that lasts has cut this slot. */
  | { readonly kind: "held" }
  /** The line has passed this number: only the mint knows whether its slot is over or still owed. */
  | { readonly kind: "passed" }
  /** No drip is known. */
  | { readonly kind: "unknown" };

/**
 * Is the slot over, or may it be, by the clock of the mint? `skewMs` is the tolerance between the two: 0 asks
 * this location's clock alone. A number that the line has passed is over unless a slot is owed to it.
 */
export function mayBeOver(turn: Turn, now: number, skewMs: number): boolean {
  if (turn.kind === "committed") return now >= turn.closesAt - skewMs;
  return turn.kind === "passed" || turn.kind === "unknown";
}

/** Does a claim count only when the fan has said that they are there? */
export function asksPresence(drip: KnownDrip | undefined): boolean {
  return drip?.claims.presence === "confirm";
}

/** Is the admission that was shown for this very slot? */
export function isClaimed(check: AdmissionCheck | undefined, { opensAt }: SlotTimes): boolean {
  if (check?.kind !== "early" && check?.kind !== "admitted") return false;
  const validFrom = check.kind === "early" ? check.validFrom : check.claims.nbf;
  return validFrom === toSeconds(opensAt);
}

export function turnOf(number: number, drip: KnownDrip | undefined, event: ManifestEvent): Turn {
  if (drip === undefined) return { kind: "unknown" };
  const { segments, heldSince, committed } = drip.claims;
  const opens = slotOf(segments, number, { heldSince });
  if (opens !== undefined) return { kind: "committed", ...slotTimes(opens, event) };
  if (heldSince !== undefined && slotOf(segments, number) !== undefined) return { kind: "held" };
  return { kind: number > committed ? "waiting" : "passed" };
}

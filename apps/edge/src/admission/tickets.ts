/** This visitor's place in line, verified here, and what the drip says about it. */
import type { ManifestEvent } from "@vestibule/contracts/statements";
import { slotOf } from "@vestibule/drip/line";
import { type SlotTimes, slotTimes } from "@vestibule/drip/slot";
import type { KnownDrip, MintFeed } from "@vestibule/feed/mint-feed";
import type { EpochMs } from "@vestibule/kernel/units";
import { refuseByTime } from "@vestibule/token/claims";
import { type Ticket, verifyTicket } from "@vestibule/token/verify-ticket";
import type { Credentials } from "./credentials.ts";
import { createTokenMemo, isInForce } from "./token-memo.ts";

export interface Place {
  readonly ticket: string;
  readonly visitor: string;
  readonly number: number;
  /** Whole seconds. */
  readonly issuedAt: number;
}

export interface Tickets {
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
      const place = (read: Ticket): Place | undefined =>
        read.kind === "numbered"
          ? { ticket, visitor, number: read.number, issuedAt: read.iat }
          : undefined;
      const known = memo.get(ticket, visitor);
      if (known !== undefined) {
        const { claims, kid } = known;
        const refusal = refuseByTime(claims, { now, skewSeconds });
        const good = claims.event === event.event && isInForce(feed.keys(now), kid, now);
        return refusal === undefined && good ? place(claims) : undefined;
      }
      for (let asked = false; ; asked = true) {
        const keys = feed.keys(now);
        if (keys === undefined) return undefined;
        const options = { keys, issuer, event: event.event, visitor, now, skewSeconds };
        const read = await verifyTicket(ticket, options);
        if (read.ok) {
          memo.put(ticket, { visitor, claims: read.value, kid: read.value.kid });
          return place(read.value);
        }
        const unknown = read.refusal.reason === "unknown-key";
        if (!unknown || asked || !feed.mayAskForUnknownKey(now)) return undefined;
        await feed.refresh("keys", now);
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

export function turnOf(number: number, drip: KnownDrip | undefined, event: ManifestEvent): Turn {
  if (drip === undefined) return { kind: "unknown" };
  const { segments, heldSince, committed } = drip.claims;
  const opens = slotOf(segments, number, { heldSince });
  if (opens !== undefined) return { kind: "committed", ...slotTimes(opens, event) };
  if (heldSince !== undefined && slotOf(segments, number) !== undefined) return { kind: "held" };
  return { kind: number > committed ? "waiting" : "passed" };
}

/**
 * Join and claim. The edge calls the mint with these bodies; a browser or app calls the edge.
 * All moments are epoch milliseconds.
 */
import * as z from "zod/mini";
import { HASH_TEXT } from "./hash-text.ts";
import { TOKEN_CHARS_MAX } from "./limits.ts";
import type { ManifestEvent } from "./statements.ts";

/** A visitor's secret. */
export const visitorSchema = z.string().check(z.regex(HASH_TEXT));
const tokenText = z.string().check(z.minLength(1), z.maxLength(TOKEN_CHARS_MAX));

/** `POST {mint}/v1/events/{event}/tickets`. A valid `ticket` of this visitor gets its place back. */
export const joinRequestSchema = z.strictObject({
  visitor: visitorSchema,
  ticket: z.optional(tokenText),
});
export type JoinRequest = z.infer<typeof joinRequestSchema>;

/** 201 for a new place, 200 for an old one. */
export interface JoinAnswer {
  readonly event: string;
  readonly number: number;
  /** When this ticket was signed. */
  readonly issuedAt: number;
  readonly ticket: string;
}

/** `POST {mint}/v1/events/{event}/admissions`. */
export const claimRequestSchema = z.strictObject({
  visitor: visitorSchema,
  ticket: tokenText,
  /** Proof that a purchase failed by a fault of ours. Counts only when the slot is over. */
  credit: z.optional(tokenText),
  /** The fan has said that they are there. Asked for while the drip says `presence: "confirm"`. */
  confirmed: z.optional(z.boolean()),
});
export type ClaimRequest = z.infer<typeof claimRequestSchema>;

/**
 * Member of a 425 for a claim with a credit: the place gets the next slot, and the credit has done what it can.
 * A 410 for such a claim refuses the credit for good; every other answer leaves it as it was.
 */
export interface CreditUsed {
  readonly creditUsed?: true;
}

/** 201. Claiming again gives the same admission (`jti`). */
export interface ClaimAnswer {
  readonly opensAt: number;
  readonly closesAt: number;
  readonly admission: string;
}

/**
 * Members of the 409 `confirm-presence`: a committed slot is claimed without `confirmed: true`, where it is asked for.
 * Sent with it until `claimBy`, the same claim counts.
 */
export interface ConfirmPresence {
  readonly opensAt: number;
  readonly closesAt: number;
  readonly claimBy: number;
}

/** Edge, `POST /_vestibule/events/{event}/tickets`; tokens only in token mode. */
export interface EdgeJoinAnswer {
  readonly event: string;
  readonly number: number;
  readonly issuedAt: number;
  readonly visitor?: string;
  readonly ticket?: string;
}

/**
 * Member `proofOfWork` of the 428 `proof-of-work-required`: a join needs a `counter` (decimal digits, at most 16) for which
 * SHA-256 over the UTF-8 of `text` and the counter begins with `bits` zero bits. Sent as `Vestibule-Proof: {at}.{counter}`, by
 * the same visitor, within some minutes. Beside it in token mode: `visitor`, to come again as.
 */
export interface ProofOfWork {
  readonly bits: number;
  readonly text: string;
  /** Epoch seconds. */
  readonly at: number;
}

/**
 * Edge, `GET /_vestibule/events/{event}`: public, the same for everyone, some seconds old. What an app needs besides the drip to
 * show what the page shows. Moments in epoch milliseconds.
 */
export type EdgeEvent = Pick<
  ManifestEvent,
  | "event"
  | "title"
  | "homePath"
  | "lifetimeSeconds"
  | "claimWindowSeconds"
  | "accent"
  | "looks"
  | "friction"
  | "language"
  | "startsAt"
  | "joinableAt"
  | "endsAt"
>;

/** Edge, `GET /_vestibule/events/{event}/me`. The times are there once the slot is committed. */
export interface EdgePlace {
  readonly number: number;
  /** What the page would say now: a `PageState` of `@vestibule/client/view`. */
  readonly state: string;
  /** People whose turn comes before; absent where nobody waits for a turn. */
  readonly ahead?: number;
  /** Milliseconds from now until the turn, from and until; equal once it is set, absent when nobody can know. */
  readonly wait?: { readonly fromMs: number; readonly untilMs: number };
  readonly opensAt?: number;
  readonly closesAt?: number;
  readonly claimBy?: number;
  /** A claim needs `confirmed: true` by `claimBy`, and no admission for this slot was shown yet. */
  readonly confirm?: true;
  /** The slot is over, and a credit was shown: a claim makes it good. */
  readonly credit?: true;
  /** An admission was shown with the ticket: whether this location would let it through now. */
  readonly admitted?: boolean;
  /** This place has bought: the path of its order, by the shop's cookie. */
  readonly order?: string;
}

/**
 * Edge, the JSON body of `POST /_vestibule/events/{event}/admissions`, where there is one. A form says the same with a field.
 * `confirmed`: the fan has said that they are there. Other members are not looked at.
 */
export interface EdgeClaimRequest {
  readonly confirmed?: boolean;
}

/** Edge, `POST /_vestibule/events/{event}/admissions`; the token only in token mode. */
export interface EdgeClaimAnswer {
  readonly opensAt: number;
  readonly closesAt: number;
  readonly admission?: string;
}

import { type Result, ok, refuse } from "@vestibule/kernel/result";
import type { EpochSeconds, TicketNumber } from "@vestibule/kernel/units";

import { isHash, isNumber, isSeconds, refuseByTime } from "./claims.ts";
import type { TokenRefusal } from "./refusal.ts";
import { TICKET_TYP } from "./types.ts";
import type { Claims, VerifiedJws } from "./verify-jws.ts";
import { type ShownOptions, verifyShown } from "./verify-shown.ts";

/** This visitor has this place: a number, or before a draw an index. */
export type Ticket = NumberedTicket | DrawTicket;

interface TicketBase {
  readonly event: string;
  /** SHA-256 of the visitor's secret, base64url. */
  readonly sub: string;
  readonly iat: EpochSeconds;
  /** The event's end as it was when the ticket was signed. */
  readonly exp: EpochSeconds;
  /** The key that signed it. */
  readonly kid: string;
}

export interface NumberedTicket extends TicketBase {
  readonly kind: "numbered";
  readonly number: TicketNumber;
}

export interface DrawTicket extends TicketBase {
  readonly kind: "draw";
  /** Draw index, 1 or higher: which entry of the draw, not a place. */
  readonly drawIndex: number;
}

/**
 * Verifies a ticket, with no state and no network.
 *
 * @throws AssertionError for options that are not well formed, never for any `text` or `visitor`.
 */
export async function verifyTicket(
  text: string,
  options: ShownOptions,
): Promise<Result<Ticket, TokenRefusal>> {
  return verifyShown(text, options, TICKET_TYP, readClaims);
}

function readClaims(
  { claims, kid }: VerifiedJws,
  options: ShownOptions,
): Result<Ticket, TokenRefusal> {
  const { event } = options;
  const { iss, aud, sub, n, d, iat, exp } = claims as Claims<
    "iss" | "aud" | "sub" | "n" | "d" | "iat" | "exp"
  >;
  if (!isHash(sub) || !isSeconds(iat) || !isSeconds(exp)) return refuse({ reason: "bad-claims" });
  // Exactly one of the two, and none of them twice over as `null`.
  if ((n === undefined) === (d === undefined)) return refuse({ reason: "bad-claims" });
  if (!isNumber(n ?? d)) return refuse({ reason: "bad-claims" });
  if (iss !== options.issuer) return refuse({ reason: "wrong-issuer" });
  if (aud !== event) return refuse({ reason: "wrong-audience" });
  const refusal = refuseByTime({ iat, exp }, options);
  if (refusal !== undefined) return refuse(refusal);
  const base = { event, sub, iat, exp, kid };
  return isNumber(n)
    ? ok({ ...base, kind: "numbered", number: n })
    : ok({ ...base, kind: "draw", drawIndex: d as number });
}

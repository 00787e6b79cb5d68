import { encodeBase64url } from "@vestibule/keys/base64url";
import { sha256 } from "@vestibule/keys/sha256";
import { utf8 } from "@vestibule/keys/text";
import type { TicketNumber } from "@vestibule/kernel/units";

/**
 * `jti` of the admission of number `number` in `event`: base64url(SHA-256("vestibule/admission/{event}/{number}")).
 * The same whenever and by whomever it is minted; the purchase API spends it once.
 */
export function admissionId(event: string, number: TicketNumber): string {
  return encodeBase64url(sha256(utf8(`vestibule/admission/${event}/${number}`)));
}

import { encodeBase64url } from "@vestibule/keys/base64url";
import { utf8 } from "@vestibule/keys/text";
import { subtle } from "@vestibule/keys/webcrypto";
import type { TicketNumber } from "@vestibule/kernel/units";

/**
 * `jti` of the admission of number `number` in `event`: base64url(SHA-256("vestibule/admission/{event}/{number}")).
 * The same whenever and by whomever it is minted; the purchase API spends it once.
 */
export async function admissionId(event: string, number: TicketNumber): Promise<string> {
  const named = utf8(`vestibule/admission/${event}/${number}`);
  return encodeBase64url(new Uint8Array(await subtle.digest("SHA-256", named)));
}

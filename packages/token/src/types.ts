/** `typ` of what is signed (RFC 8725 section 3.11): compared exactly, case included, without `application/`. */
export const TICKET_TYP = "vst-ticket+jwt";
export const ADMISSION_TYP = "vst-admission+jwt";
export const DRIP_TYP = "vst-drip+jwt";
export const MANIFEST_TYP = "vst-manifest+jwt";
/** The mint's clock, for whoever asked with a nonce. */
export const TIME_TYP = "vst-time+jwt";
/** The only one that the purchase API signs, with a key of its own. */
export const CREDIT_TYP = "vst-credit+jwt";
/** A service that passes without a place, where a bypass rule names it. */
export const SERVICE_TYP = "vst-service+jwt";

export type TokenTyp =
  | typeof TICKET_TYP
  | typeof ADMISSION_TYP
  | typeof DRIP_TYP
  | typeof MANIFEST_TYP
  | typeof TIME_TYP
  | typeof CREDIT_TYP
  | typeof SERVICE_TYP;

/** What an admission lets its visitor do. */
export type Action = "purchase";

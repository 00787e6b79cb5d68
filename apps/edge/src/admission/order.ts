/** What this place has bought, as the shop's cookie says. It opens nothing: it is shown to its own browser. */
import { RETURN_PATH_CHARS_MAX } from "../limits.ts";
import { cookieName } from "@vestibule/contracts/names";
import { readCookie } from "../cookies.ts";
import { safeReturnPath } from "../routing/return-path.ts";
import type { Visit } from "../visit.ts";
import { type Credentials, readCredit } from "./credentials.ts";

/** The path of the order of place `number`; `undefined` when it has none, or the cookie leads elsewhere. */
export function readOrder(
  { head, address }: Visit,
  event: string,
  number: number | undefined,
): string | undefined {
  if (number === undefined || head.cookie === null) return undefined;
  const name = cookieName("order", event, { https: address.https });
  const [, place, path = ""] = /^(\d{1,16})\.(.+)$/.exec(readCookie(head.cookie, name) ?? "") ?? [];
  if (Number(place) !== number || path.length > RETURN_PATH_CHARS_MAX) return undefined;
  try {
    return safeReturnPath(decodeURIComponent(path), address.origin);
  } catch {
    return undefined;
  }
}

/** The credit that is of use to this place: whoever has bought needs no other turn. */
export function usableCredit(
  visit: Visit,
  {
    event,
    credentials,
    number,
  }: { event: string; credentials: Credentials; number: number | undefined },
): string | undefined {
  if (readOrder(visit, event, number) !== undefined) return undefined;
  return readCredit(visit.head, { event, https: visit.address.https }, credentials);
}

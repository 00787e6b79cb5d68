import { EDGE_PREFIX } from "@vestibule/contracts/names";
import { RETURN_PATH_CHARS_MAX } from "../limits.ts";

/**
 * A path of ours to send somebody back to, or `undefined` (EP-14). Decided on what the URL parser of a
 * browser makes of it, and on the text itself: `//`, `/\`, their encoded forms and control characters
 * are refused although some of them would stay with us.
 */
export function safeReturnPath(
  value: string | null | undefined,
  origin: string,
): string | undefined {
  if (value === null || value === undefined || value.length > RETURN_PATH_CHARS_MAX)
    return undefined;
  if (!/^\/[\u0021-\u005b\u005d-\u007e]*$/.test(value) || value.startsWith("//")) return undefined;
  // Twice, because a server in between may have decoded it once.
  let decoded = value;
  for (let round = 0; round < 2; round += 1) {
    decoded = decoded.replace(/%[0-9A-Fa-f]{2}/g, (escape) =>
      String.fromCharCode(Number.parseInt(escape.slice(1), 16)),
    );
    if (/^\/[^!-~]*[/\\]/.test(decoded)) return undefined;
  }
  let url: URL;
  try {
    url = new URL(value, origin);
  } catch {
    return undefined;
  }
  if (url.origin !== origin || url.username !== "" || url.pathname.startsWith("//"))
    return undefined;
  if (url.pathname.startsWith(`${EDGE_PREFIX}/`)) return undefined;
  return url.pathname + url.search;
}

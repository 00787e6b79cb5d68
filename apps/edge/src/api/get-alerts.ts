/**
 * `GET /_vestibule/alerts.js`: what the page fetches when a fan asks to be told of the turn by sound. The same bytes for everyone;
 * the page's policy lets no others run.
 */
import { alertsScript } from "#page-assets";
import { timing } from "../problem.ts";

/** A page of the next version wants the next version's: a copy may be a little older. */
const CACHED = "public, max-age=60";

const BODY = new TextEncoder().encode(alertsScript);

export function getAlerts(): Response {
  return new Response(BODY, {
    headers: {
      "Content-Type": "text/javascript; charset=utf-8",
      "Cache-Control": CACHED,
      "X-Content-Type-Options": "nosniff",
      "Server-Timing": timing("alerts"),
    },
  });
}

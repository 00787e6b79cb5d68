/**
 * `DELETE …/me`, and `POST …/leave` for a form: gives a place up. Our cookies of this event go. No mint is asked: a place that
 * nobody claims goes to the next one by itself.
 */
import { type CookieKind, cookieName } from "@vestibule/contracts/names";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import { readCredentials } from "../admission/credentials.ts";
import { clearCookie, readCookie, setCookie } from "../cookies.ts";
import type { Head } from "../head.ts";
import { GONE_SECONDS } from "../limits.ts";
import type { Visit } from "../visit.ts";
import { refuseCrossSite, seeOther } from "./answers.ts";
import { readForm } from "./form.ts";

/** The order is the shop's. */
const OURS: readonly CookieKind[] = ["visitor", "ticket", "admission", "credit"];

export async function leave(visit: Visit, event: ManifestEvent): Promise<Response> {
  const scope = { event: event.event, https: visit.address.https };
  const credentials = readCredentials(visit.head, scope);
  const crossSite = refuseCrossSite(visit, event, credentials);
  if (crossSite !== undefined) return crossSite;
  const form = await readForm(visit, event);
  if (form instanceof Response) return form;
  const answer =
    form.returnPath === undefined
      ? new Response(null, { status: 204, headers: { "Cache-Control": "private, no-store" } })
      : seeOther(form.returnPath);
  if (credentials.tokenMode) return answer;
  for (const kind of OURS) answer.headers.append("Set-Cookie", clearCookie(kind, scope));
  // The page takes no new place by itself, however often it is loaded: only a join ends that.
  const gone = setCookie("gone", { ...scope, value: "1", maxAgeSeconds: GONE_SECONDS });
  answer.headers.append("Set-Cookie", gone);
  return answer;
}

/** Whether this browser has left the line, and not joined since. */
export function hasLeft({ cookie }: Head, scope: { event: string; https: boolean }): boolean {
  return (
    cookie?.includes("vst-gone-") === true &&
    readCookie(cookie, cookieName("gone", scope.event, scope)) !== undefined
  );
}

/** Bodies of our own endpoints: an optional form (without JavaScript) or JSON, both bounded. */
import { BODY_BYTES_MAX } from "@vestibule/contracts/limits";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import { problem } from "../problem.ts";
import { prefersPage } from "../routing/accept.ts";
import { safeReturnPath } from "../routing/return-path.ts";
import type { Visit } from "../visit.ts";

/** Where a form without JavaScript goes back to; `undefined` for scripts and apps. */
export interface Form {
  readonly returnPath: string | undefined;
}

const FORM = /^application\/x-www-form-urlencoded\s*(;|$)/i;

/** A too large body is answered 413; an unsafe return path falls back to the event's page (EP-14). */
export async function readForm(
  { request, url }: Visit,
  event: ManifestEvent,
): Promise<Form | Response> {
  if (!prefersPage(request.headers.get("accept"))) return { returnPath: undefined };
  if (!FORM.test(request.headers.get("content-type") ?? "")) return { returnPath: event.homePath };
  const text = await readText(request);
  if (text === undefined) return problem("body-too-large");
  const wanted = new URLSearchParams(text).get("return");
  return { returnPath: safeReturnPath(wanted, url.origin) ?? event.homePath };
}

/** The body as text, or `undefined` when it is larger than our endpoints take. */
export async function readText(request: Request): Promise<string | undefined> {
  if (Number(request.headers.get("content-length") ?? 0) > BODY_BYTES_MAX) return undefined;
  if (request.body === null) return "";
  const reader = request.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    length += value.byteLength;
    if (length > BODY_BYTES_MAX) {
      await reader.cancel();
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}

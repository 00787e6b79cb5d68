/** Bodies of our own endpoints: an optional form (without JavaScript) or JSON, both bounded. */
import type { EdgeClaimRequest } from "@vestibule/contracts/line-api";
import { BODY_BYTES_MAX } from "@vestibule/contracts/limits";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import { readAtMost } from "@vestibule/feed/read-at-most";
import { settledWithin } from "../deadline.system.ts";
import { readJsonObject } from "../json-object.ts";
import { BODY_DEADLINE_MS } from "../limits.ts";
import { problem } from "../problem.ts";
import { prefersPage } from "../routing/accept.ts";
import { isJson } from "../routing/cross-origin.ts";
import { safeReturnPath } from "../routing/return-path.ts";
import type { Visit } from "../visit.ts";

/** Where a form without JavaScript goes back to; `undefined` for scripts and apps. */
export interface Form {
  readonly returnPath: string | undefined;
  /** The fan says that they are there. */
  readonly confirmed: boolean;
}

const FORM = /^application\/x-www-form-urlencoded\s*(;|$)/i;

export function isForm({ headers }: Request): boolean {
  return FORM.test(headers.get("content-type") ?? "");
}

/** A body that cannot be read is refused; an unsafe return path falls back to the event's page (EP-14). */
export async function readForm(
  { request, address }: Visit,
  event: ManifestEvent,
): Promise<Form | Response> {
  if (!prefersPage(request.headers.get("accept"))) {
    return { returnPath: undefined, confirmed: false };
  }
  if (!isForm(request)) {
    return { returnPath: event.homePath, confirmed: false };
  }
  const text = await readText(request);
  if (text instanceof Response) return text;
  const fields = new URLSearchParams(text);
  return {
    returnPath: safeReturnPath(fields.get("return"), address.origin) ?? event.homePath,
    confirmed: fields.get("confirmed") === "true",
  };
}

/** The same of a claim: a script says in JSON what a form says in a field. Another body is not looked at. */
export async function readClaim(visit: Visit, event: ManifestEvent): Promise<Form | Response> {
  const form = await readForm(visit, event);
  const { request } = visit;
  if (form instanceof Response || form.returnPath !== undefined) return form;
  if (!isJson(request.headers.get("content-type"))) return form;
  const text = await readText(request);
  if (text instanceof Response) return text;
  if (text === "") return form;
  const claim = claimOf(text);
  if (claim !== undefined) return { ...form, confirmed: claim.confirmed === true };
  const detail = "The body must be a JSON object; `confirmed`, where it is there, true or false.";
  return problem("bad-request", { detail });
}

/**
 * The body as text. Refused: larger than our endpoints take (413), not all there in time (408), cut off or
 * malformed on the way (400).
 */
export async function readText(
  request: Request,
  deadlineMs = BODY_DEADLINE_MS,
): Promise<string | Response> {
  if (Number(request.headers.get("content-length") ?? 0) > BODY_BYTES_MAX) {
    return problem("body-too-large");
  }
  if (request.body === null) return "";
  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader();
  try {
    const reading = readAtMost(reader, BODY_BYTES_MAX);
    const text = await settledWithin(deadlineMs, reading.then(textOf));
    return text ?? problem("request-timeout");
  } catch {
    return problem("bad-request", { detail: "The body did not arrive as it should have." });
  } finally {
    // What is left of it is of no use to anybody.
    reader.cancel().catch(() => undefined);
  }
}

/** By hand, since it is one member: a schema's code is parsed by every isolate before its first answer. */
function claimOf(text: string): EdgeClaimRequest | undefined {
  const body = readJsonObject(text);
  if (body === undefined) return undefined;
  const { confirmed = false } = body;
  return typeof confirmed === "boolean" ? { confirmed } : undefined;
}

function textOf(bytes: Uint8Array | undefined): string | Response {
  return bytes === undefined ? problem("body-too-large") : new TextDecoder().decode(bytes);
}

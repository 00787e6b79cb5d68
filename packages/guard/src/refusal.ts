/** What a client gets to see: one dull answer for each status. The reason is for the shop's log. */
import { HELD_RETRY_AFTER_SECONDS, UNKNOWN_RETRY_AFTER_SECONDS } from "@vestibule/contracts/limits";
import { PROBLEM_MEDIA_TYPE } from "@vestibule/contracts/names";
import { PROBLEMS, problemDocument } from "@vestibule/contracts/problems";
import { textResponse } from "./platform.ts";
import type { RefusalReason, Refused } from "./types.ts";

const RETRY_AFTER_SECONDS = {
  held: HELD_RETRY_AFTER_SECONDS,
  unavailable: UNKNOWN_RETRY_AFTER_SECONDS,
} as const;

export function refused(reason: RefusalReason): Refused {
  const code = codeOf(reason);
  const { status } = PROBLEMS[code];
  const headers = {
    "Content-Type": PROBLEM_MEDIA_TYPE,
    "Cache-Control": "private, no-store",
    "X-Content-Type-Options": "nosniff",
  };
  const body = JSON.stringify(problemDocument(code));
  if (code === "admission-required") {
    return { ok: false, status, reason, response: textResponse(body, { status, headers }) };
  }
  const retryAfterSeconds = RETRY_AFTER_SECONDS[code];
  const response = textResponse(body, {
    status,
    headers: { ...headers, "Retry-After": String(retryAfterSeconds) },
  });
  return { ok: false, status, reason, retryAfterSeconds, response };
}

function codeOf(reason: RefusalReason): "admission-required" | "held" | "unavailable" {
  if (reason === "held") return "held";
  return reason === "mint-unknown" || reason === "cannot-verify"
    ? "unavailable"
    : "admission-required";
}

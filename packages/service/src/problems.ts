/** AppError → problem document (RFC 9457). Everything else is a 500 that says nothing. */
import { PROBLEM_MEDIA_TYPE } from "@vestibule/contracts/names";
import { PROBLEMS, type ProblemCode, problemDocument } from "@vestibule/contracts/problems";
import { AppError } from "@vestibule/kernel/app-error";
import type { Log } from "./log.ts";

/** A problem as HTTP: status, headers, body. The server's own trouble carries what to log. */
export interface HttpProblem {
  readonly code: ProblemCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function httpProblem(error: unknown): HttpProblem {
  const known = error instanceof AppError && isProblemCode(error.code) ? error : undefined;
  const code = known === undefined ? "internal" : (known.code as ProblemCode);
  const { status } = PROBLEMS[code];
  const headers: Record<string, string> = {
    "Content-Type": PROBLEM_MEDIA_TYPE,
    "Cache-Control": "no-store",
  };
  const retryAfterSeconds = known?.retryAfterSeconds;
  if (retryAfterSeconds !== undefined) {
    headers["Retry-After"] = String(Math.max(1, Math.ceil(retryAfterSeconds)));
  }
  // RFC 9110 section 11.6.1: a 401 names at least one scheme.
  if (code === "unauthorized") headers["WWW-Authenticate"] = "Bearer";
  if (code === "admission-required") headers["WWW-Authenticate"] = "Vestibule-Admission";
  const allow = known?.extensions["allow"];
  if (code === "method-not-allowed" && Array.isArray(allow)) headers["Allow"] = allow.join(", ");
  const document = problemDocument(code, {
    detail: known?.detail,
    extensions: known?.extensions ?? {},
  });
  return { code, status, headers, body: JSON.stringify(document) };
}

/**
 * Our faults are errors. What was decided (503: a standby, an outage, a hold) is one line without a
 * stack, and `/readyz`, which is asked all the time and says it all in its answer, is none.
 */
export function logFailure(
  log: Log,
  error: unknown,
  request: { method: string | undefined; path: string; code: ProblemCode; status: number },
): void {
  const { status, ...fields } = request;
  if (status < 500) return;
  if (status !== 503) log.error("request-failed", error, fields);
  else if (fields.path !== "/readyz") {
    const reason = error instanceof AppError ? error.message : undefined;
    log.info("request-unavailable", { ...fields, reason });
  }
}

/** Our own code's shorthand: the compiler checks the code against the registry. */
export function problem(
  code: ProblemCode,
  options: ConstructorParameters<typeof AppError>[1] = {},
): AppError<ProblemCode> {
  return new AppError(code, options);
}

function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(PROBLEMS, code);
}

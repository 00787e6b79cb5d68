/** AppError → problem document (RFC 9457). Everything else is a 500 that says nothing. */
import { PROBLEM_MEDIA_TYPE } from "@vestibule/contracts/names";
import { PROBLEMS, type ProblemCode, problemDocument } from "@vestibule/contracts/problems";
import { AppError } from "@vestibule/kernel/app-error";

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

/** Problem documents (RFC 9457): the only form in which the edge refuses a script or an app. */
import { PROBLEM_MEDIA_TYPE } from "@vestibule/contracts/names";
import { PROBLEMS, type ProblemCode, problemDocument } from "@vestibule/contracts/problems";

export interface ProblemOptions {
  readonly detail?: string;
  readonly extensions?: Readonly<Record<string, unknown>>;
  /** Rounded up to whole seconds, 1 or more. */
  readonly retryAfterSeconds?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export function problem(code: ProblemCode, options: ProblemOptions = {}): Response {
  const { detail, extensions = {}, retryAfterSeconds, headers } = options;
  const response = new Response(JSON.stringify(problemDocument(code, { detail, extensions })), {
    status: PROBLEMS[code].status,
    headers: {
      "Content-Type": PROBLEM_MEDIA_TYPE,
      "Cache-Control": "private, no-store",
      "X-Content-Type-Options": "nosniff",
      ...headers,
    },
  });
  if (retryAfterSeconds !== undefined) {
    response.headers.set("Retry-After", String(Math.max(1, Math.ceil(retryAfterSeconds))));
  }
  return response;
}

/** Problem documents (RFC 9457): the only form in which the edge refuses a script or an app. */
import { PROBLEM_MEDIA_TYPE } from "@vestibule/contracts/names";
import { PROBLEMS, type ProblemCode, problemDocument } from "@vestibule/contracts/problems";

import type { Seen } from "./seen.ts";

export interface ProblemOptions {
  readonly detail?: string;
  readonly extensions?: Readonly<Record<string, unknown>>;
  /** Rounded up to whole seconds, 1 or more. */
  readonly retryAfterSeconds?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * `Server-Timing` of our own answers: which kind it is, for whoever looks at it in a browser. Never how long anything took:
 * that would tell what was known, and what a mint or a check cost.
 */
export function timing(kind: string): string {
  return `vst;desc="${kind}"`;
}

/** A refusal that is counted; those of our own endpoints are counted where they leave. */
export function refuse(
  { seen }: { readonly seen: Seen },
  code: ProblemCode,
  options?: ProblemOptions,
): Response {
  seen.refused(code);
  return problem(code, options);
}

/** The code of a refusal of ours. */
export function codeOf({ headers }: Response): ProblemCode | undefined {
  if (headers.get("content-type") !== PROBLEM_MEDIA_TYPE) return undefined;
  const code = /^vst;desc="([a-z-]+)"$/.exec(headers.get("server-timing") ?? "")?.[1];
  return code !== undefined && Object.hasOwn(PROBLEMS, code) ? (code as ProblemCode) : undefined;
}

export function problem(code: ProblemCode, options: ProblemOptions = {}): Response {
  const { detail, extensions = {}, retryAfterSeconds, headers } = options;
  const response = new Response(JSON.stringify(problemDocument(code, { detail, extensions })), {
    status: PROBLEMS[code].status,
    headers: {
      "Content-Type": PROBLEM_MEDIA_TYPE,
      "Cache-Control": "private, no-store",
      "X-Content-Type-Options": "nosniff",
      "Server-Timing": timing(code),
      ...headers,
    },
  });
  if (retryAfterSeconds !== undefined) {
    response.headers.set("Retry-After", String(Math.max(1, Math.ceil(retryAfterSeconds))));
  }
  return response;
}

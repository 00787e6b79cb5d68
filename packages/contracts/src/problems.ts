/**
 * The registry of problem documents (RFC 9457). A `type` is a stable name, `urn:vestibule:problem:<code>`;
 * a caller decides by `type`, never by text.
 */
export const PROBLEMS = {
  "bad-request": { status: 400, title: "The request is not well formed" },
  unauthorized: { status: 401, title: "A valid bearer token is needed" },
  "admission-required": { status: 401, title: "A valid admission is needed" },
  forbidden: { status: 403, title: "This is not allowed" },
  "cross-site": { status: 403, title: "Requests from another site are refused" },
  "not-found": { status: 404, title: "There is nothing here" },
  "event-not-found": { status: 404, title: "There is no such event" },
  "key-not-found": { status: 404, title: "There is no such key" },
  "method-not-allowed": { status: 405, title: "This method is not allowed here" },
  "request-timeout": { status: 408, title: "The request took too long to arrive" },
  conflict: { status: 409, title: "The request conflicts with the present state" },
  "not-yet-safe": { status: 409, title: "This step would refuse valid tokens now" },
  "already-spent": { status: 409, title: "This admission was used already" },
  "in-progress": { status: 409, title: "The same request is still running" },
  "sold-out": { status: 409, title: "There is not enough left" },
  "buyer-limit": { status: 409, title: "That is more than one buyer may have" },
  "confirm-presence": { status: 409, title: "The claim does not say that somebody is there" },
  "event-exists": { status: 409, title: "An event of this name exists already" },
  "slot-over": { status: 410, title: "The time to claim this place is over" },
  "hold-over": { status: 410, title: "The time of this hold is over" },
  "event-ended": { status: 410, title: "The event has ended" },
  "version-mismatch": { status: 412, title: "Somebody else changed it in the meantime" },
  "body-too-large": { status: 413, title: "The body is too large" },
  "unsupported-media-type": { status: 415, title: "The body must be JSON" },
  "invalid-settings": { status: 422, title: "Some values are not allowed" },
  "idempotency-mismatch": { status: 422, title: "This key was used for another request" },
  "too-early": { status: 425, title: "It is not your turn yet" },
  "precondition-required": { status: 428, title: "The request must be conditional" },
  "proof-of-work-required": { status: 428, title: "Joining this line takes some work first" },
  waiting: { status: 429, title: "There is a waiting room in front of this" },
  "too-many-requests": { status: 429, title: "Too many requests" },
  "head-too-large": { status: 431, title: "The request head is too large" },
  internal: { status: 500, title: "Something went wrong on our side" },
  "origin-unreachable": { status: 502, title: "The shop could not be reached" },
  "clock-wrong": { status: 503, title: "The clock here is wrong" },
  held: { status: 503, title: "The sale is paused" },
  unavailable: { status: 503, title: "This is not available right now" },
  "origin-timeout": { status: 504, title: "The shop took too long to answer" },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof PROBLEMS;

export const PROBLEM_TYPE_PREFIX = "urn:vestibule:problem:";

/** What goes over the wire as `application/problem+json`. */
export interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail?: string;
  readonly [extension: string]: unknown;
}

/** The document for `code`; `extensions` never replace the registered members. */
export function problemDocument(
  code: ProblemCode,
  options: { detail?: string | undefined; extensions?: Readonly<Record<string, unknown>> } = {},
): ProblemDocument {
  const { status, title } = PROBLEMS[code];
  return {
    ...options.extensions,
    type: PROBLEM_TYPE_PREFIX + code,
    title,
    status,
    ...(options.detail === undefined ? {} : { detail: options.detail }),
  };
}

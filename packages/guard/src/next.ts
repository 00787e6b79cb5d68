/**
 * For Next.js (15 and later): route handlers, and the proxy (`proxy.ts`; `middleware.ts` before 16).
 * Both take a web-standard `Request`, so this serves every framework whose handlers do.
 */
import { checkOptionsFor } from "./adapter.ts";
import type {
  AdapterOptions,
  Admission,
  Guard,
  Refused,
  RequestLike,
  WebRequest,
  WebResponse,
} from "./types.ts";

export interface NextOptions<
  Request extends RequestLike = WebRequest,
> extends AdapterOptions<Request> {
  /** A page of the shop's own instead of the problem document. Keep `refused.reason` to the log. */
  readonly onRefused?: (refused: Refused, request: Request) => WebResponse | Promise<WebResponse>;
}

/**
 * Around a route handler, which gets the admission behind its usual arguments:
 * `export const POST = withAdmission(guard, (request, context, admission) => …)`.
 */
export function withAdmission<
  Request extends RequestLike = WebRequest,
  Context = unknown,
  Answer = WebResponse,
>(
  guard: Guard,
  handler: (request: Request, context: Context, admission: Admission) => Answer | Promise<Answer>,
  options: NextOptions<Request> = {},
): (request: Request, context: Context) => Promise<Answer | WebResponse> {
  return async (request, context) => {
    const verdict = await guard.check(request, checkOptionsFor(request, options));
    if (!verdict.ok) return (await options.onRefused?.(verdict, request)) ?? verdict.response;
    return await handler(request, context, verdict.admission);
  };
}

/** The part of Next's `NextFetchEvent` that is used. */
export interface FetchEventLike {
  waitUntil(work: Promise<unknown>): void;
}

/**
 * `export const proxy = requireAdmission(guard)` with a `matcher`: refuses, or lets Next go on. Route
 * handlers behind it do not see the admission: wrap those that need it in `withAdmission` as well.
 */
export function requireAdmission<Request extends RequestLike = WebRequest>(
  guard: Guard,
  options: NextOptions<Request> = {},
): (request: Request, event?: FetchEventLike) => Promise<WebResponse | undefined> {
  return async (request, event) => {
    const verdict = await guard.check(request, {
      ...checkOptionsFor(request, options),
      waitUntil: event === undefined ? undefined : (work) => event.waitUntil(work),
    });
    if (verdict.ok) return undefined;
    return (await options.onRefused?.(verdict, request)) ?? verdict.response;
  };
}

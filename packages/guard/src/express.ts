/** For Express 4 and 5, and whatever else passes Node's request and response (Connect, Polka, `node:http`). */
import {
  type NodeHeaders,
  checkOptionsFor,
  headersOfNode,
  keepAdmission,
  partsOf,
} from "./adapter.ts";
import type { AdapterOptions, Guard, Refused } from "./types.ts";

export { admissionOf } from "./adapter.ts";

/** The part of Node's request that is looked at. */
export interface NodeRequest {
  readonly headers: NodeHeaders;
  /** Express's: for the shop's own `event`. */
  readonly params?: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** The part of Node's response that is used to refuse. */
export interface NodeResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body: string): unknown;
}

export interface ExpressOptions<
  Request extends NodeRequest = NodeRequest,
  Response extends NodeResponse = NodeResponse,
> extends AdapterOptions<Request> {
  /** A page of the shop's own instead of the problem document. Keep `refused.reason` to the log. */
  readonly onRefused?: (refused: Refused, request: Request, response: Response) => unknown;
}

/**
 * `app.post("/checkout", requireAdmission(guard), …)`: before any body parser, or behind it. The admission
 * is `admissionOf(req)`.
 */
export function requireAdmission<
  Request extends NodeRequest = NodeRequest,
  Response extends NodeResponse = NodeResponse,
>(
  guard: Guard,
  options: ExpressOptions<Request, Response> = {},
): (request: Request, response: Response, next: (error?: unknown) => void) => void {
  const admit = async (request: Request, response: Response): Promise<boolean> => {
    const headers = headersOfNode(request.headers);
    const verdict = await guard.check({ headers }, checkOptionsFor(request, options));
    if (verdict.ok) {
      keepAdmission(request, verdict.admission);
      return true;
    }
    if (options.onRefused === undefined) await answer(verdict, response);
    else await options.onRefused(verdict, request, response);
    return false;
  };
  return (request, response, next) => {
    // Express 4 hears of a failure by `next` only. What the route throws afterwards is not ours.
    admit(request, response).then(
      (admitted) => {
        if (admitted) next();
      },
      (error: unknown) => next(error ?? new Error("the guard failed")),
    );
  };
}

async function answer(refused: Refused, response: NodeResponse): Promise<void> {
  const { headers, body } = await partsOf(refused.response);
  response.statusCode = refused.status;
  for (const [name, value] of headers) response.setHeader(name, value);
  response.end(body);
}

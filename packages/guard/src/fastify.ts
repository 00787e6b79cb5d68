/** For Fastify 5 (and 4). */
import {
  type NodeHeaders,
  checkOptionsFor,
  headersOfNode,
  keepAdmission,
  partsOf,
} from "./adapter.ts";
import type { AdapterOptions, Guard, Refused } from "./types.ts";

export { admissionOf } from "./adapter.ts";

/** The part of Fastify's request that is looked at. */
export interface FastifyRequestLike {
  readonly headers: NodeHeaders;
}

/** The part of Fastify's reply that is used to refuse. */
export interface FastifyReplyLike {
  code(status: number): unknown;
  header(name: string, value: string): unknown;
  send(body: string): unknown;
}

export interface FastifyOptions<
  Request extends FastifyRequestLike = FastifyRequestLike,
  Reply extends FastifyReplyLike = FastifyReplyLike,
> extends AdapterOptions<Request> {
  /** A page of the shop's own instead of the problem document: must send. Keep `refused.reason` to the log. */
  readonly onRefused?: (refused: Refused, request: Request, reply: Reply) => unknown;
}

/**
 * `app.post("/checkout", { onRequest: requireAdmission(guard) }, …)`: the admission is
 * `admissionOf(request)`. As `onRequest` it runs before the body is read.
 */
export function requireAdmission<
  Request extends FastifyRequestLike = FastifyRequestLike,
  Reply extends FastifyReplyLike = FastifyReplyLike,
>(
  guard: Guard,
  options: FastifyOptions<Request, Reply> = {},
): (request: Request, reply: Reply) => Promise<unknown> {
  return async (request, reply) => {
    const headers = headersOfNode(request.headers);
    const verdict = await guard.check({ headers }, checkOptionsFor(request, options));
    if (verdict.ok) {
      keepAdmission(request, verdict.admission);
      return undefined;
    }
    if (options.onRefused === undefined) {
      const { headers: fields, body } = await partsOf(verdict.response);
      reply.code(verdict.status);
      for (const [name, value] of fields) reply.header(name, value);
      reply.send(body);
    } else {
      await options.onRefused(verdict, request, reply);
    }
    return reply; // Fastify: an async hook that has sent says so by returning the reply
  };
}

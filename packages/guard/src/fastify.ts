/** For Fastify 5. */
import {
  type NodeHeaders,
  checkOptionsFor,
  headersOfNode,
  keepAdmission,
  partsOf,
} from "./adapter.ts";
import type { AdapterOptions, Guard, Refused } from "./types.ts";

export { admissionOf } from "./adapter.ts";

/** The part of Fastify's request that is looked at; `params` and `url` are for the shop's own functions. */
export interface FastifyRequestLike {
  readonly headers: NodeHeaders;
  readonly params: unknown;
  readonly url: string;
}

/** The part of Fastify's reply that is used to refuse. */
export interface FastifyReplyLike {
  code(status: number): unknown;
  header(name: string, value: string): unknown;
  redirect(url: string, status?: number): unknown;
  send(body?: unknown): unknown;
}

export interface FastifyOptions extends AdapterOptions<FastifyRequestLike> {
  /** A page of the shop's own instead of the problem document: must send. Keep `refused.reason` to the log. */
  readonly onRefused?: (
    refused: Refused,
    request: FastifyRequestLike,
    reply: FastifyReplyLike,
  ) => unknown;
}

/**
 * `app.post("/checkout", { onRequest: requireAdmission(guard) }, …)`: the admission is
 * `admissionOf(request)`. As `onRequest` it runs before the body is read.
 */
export function requireAdmission(
  guard: Guard,
  options: FastifyOptions = {},
): (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown> {
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

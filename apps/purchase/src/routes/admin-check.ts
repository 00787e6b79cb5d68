/** The organizer's token, checked so that nobody can try many. */
import type { ServiceContext } from "@vestibule/service/app";
import { assertBearer } from "@vestibule/service/bearer";
import type { Secret } from "@vestibule/service/secret";
import { answerHeadersOf } from "../attempt.ts";
import { clientAddress } from "../client-address.ts";
import type { Limiter } from "../limiter.ts";

export interface AdminCheckOptions {
  readonly adminToken: Secret;
  /** One bucket for each client address. */
  readonly limiter: Limiter;
  /** Proxies before this service that append to `X-Forwarded-For`. */
  readonly trustProxyHops: number;
}

/**
 * Takes one try of the caller's address, and gives it back when the token was right: guessing is slow, and
 * organizers are not slowed.
 *
 * @throws AppError `unauthorized`; `too-many-requests`; `unavailable` when the limiter cannot say.
 */
export type AssertAdmin = (context: ServiceContext) => Promise<void>;

export function createAssertAdmin(options: AdminCheckOptions): AssertAdmin {
  const { adminToken, limiter, trustProxyHops } = options;
  return async (context) => {
    const { incoming } = context.env;
    const identity = clientAddress({
      socket: incoming.socket.remoteAddress,
      forwardedFor: incoming.headersDistinct["x-forwarded-for"]?.join(","),
      hops: trustProxyHops,
    });
    await limiter.take(identity, answerHeadersOf(context));
    assertBearer(context.req.header("Authorization"), adminToken);
    await limiter.giveBack(identity);
  };
}

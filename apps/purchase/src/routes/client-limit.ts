/** One bucket for each client address, for whatever anybody may ask without an admission. */
import type { ServiceContext } from "@vestibule/service/app";
import { addressOfRequest } from "@vestibule/service/client-address";
import { answerHeadersOf } from "../attempt.ts";
import type { Limiter } from "../limiter.ts";

export interface ClientLimit {
  /** @throws AppError `too-many-requests`; `unavailable` when the limiter cannot say. */
  take(context: ServiceContext): Promise<void>;
  giveBack(context: ServiceContext): Promise<void>;
  /** Whose bucket it is. */
  addressOf(context: ServiceContext): string;
}

/** @param options.trustProxyHops Proxies before this service that append to `X-Forwarded-For`. */
export function createClientLimit({
  limiter,
  trustProxyHops: hops,
}: {
  limiter: Limiter;
  trustProxyHops: number;
}): ClientLimit {
  const addressOf = ({ env: { incoming } }: ServiceContext): string =>
    addressOfRequest(incoming, hops);
  return {
    take: (context) => limiter.take(addressOf(context), answerHeadersOf(context)),
    giveBack: (context) => limiter.giveBack(addressOf(context)),
    addressOf,
  };
}

/** The organizer's and the shop's bearer token, checked so that nobody can try many. */
import { AppError } from "@vestibule/kernel/app-error";
import type { Clock } from "@vestibule/kernel/clock";
import type { EpochMs } from "@vestibule/kernel/units";
import type { ServiceContext } from "@vestibule/service/app";
import { isBearer } from "@vestibule/service/bearer";
import { problem } from "@vestibule/service/problems";
import type { Secret } from "@vestibule/service/secret";
import { KNOWN_ADDRESS_MS, KNOWN_ADDRESSES_MAX } from "../limits.ts";
import type { ClientLimit } from "./client-limit.ts";

/**
 * Every wrong token takes one try of the caller's address. A right one takes one too, and gives it back at once, so
 * that an address that guessed too often learns nothing.
 *
 * @throws AppError `unauthorized`, for everybody while there is no such token; `too-many-requests`; `unavailable`
 * while the limiter cannot say.
 */
export type AssertToken = (context: ServiceContext) => Promise<void>;

export interface TokenCheckOptions {
  readonly token: Secret | undefined;
  readonly limit: ClientLimit;
  readonly clock: Clock;
  /**
   * For a machine whose work must go on: an address that showed the right token lately is not asked again, so that
   * no guesser who shares it (a proxy that `TRUST_PROXY_HOPS` leaves out) locks it out, and while the limiter's
   * store is away the right token is let in: what was paid for is confirmed then, too. False: closed, as a log-in is.
   */
  readonly mustGoOn: boolean;
}

export function createTokenCheck({
  token,
  limit,
  clock,
  mustGoOn,
}: TokenCheckOptions): AssertToken {
  /** When each address showed the right token, the latest last. */
  const known = new Map<string, EpochMs>();
  const proofs = new Map<string, Promise<void>>();

  const isKnown = (address: string): boolean => {
    const at = known.get(address);
    return at !== undefined && Math.abs(clock.now() - at) < KNOWN_ADDRESS_MS;
  };
  const remember = (address: string): void => {
    known.delete(address);
    known.set(address, clock.now());
    const [oldest] = known.keys();
    if (known.size > KNOWN_ADDRESSES_MAX && oldest !== undefined) known.delete(oldest);
  };
  const prove = async (context: ServiceContext): Promise<void> => {
    try {
      await limit.take(context);
    } catch (error) {
      if (mustGoOn && error instanceof AppError && error.code === "unavailable") return;
      throw error;
    }
    await limit.giveBack(context);
  };
  /** However many come at once with the right token, they take one try together. */
  const proven = (address: string, context: ServiceContext): Promise<void> => {
    const running = proofs.get(address);
    if (running !== undefined) return running;
    const proof = prove(context).finally(() => proofs.delete(address));
    proofs.set(address, proof);
    return proof;
  };

  return async (context) => {
    // There is nothing to guess.
    if (token === undefined) throw problem("unauthorized");
    if (!isBearer(context.req.header("Authorization"), token)) {
      await limit.take(context);
      throw problem("unauthorized");
    }
    const address = limit.addressOf(context);
    if (mustGoOn && isKnown(address)) return remember(address);
    await proven(address, context);
    if (mustGoOn) remember(address);
  };
}

/** The organizer's token, checked so that nobody can try many. */
import type { ServiceContext } from "@vestibule/service/app";
import { assertBearer } from "@vestibule/service/bearer";
import type { Secret } from "@vestibule/service/secret";
import type { ClientLimit } from "./client-limit.ts";

/**
 * Takes one try of the caller's address, and gives it back when the token was right: guessing is slow, and
 * organizers are not slowed.
 *
 * @throws AppError `unauthorized`; `too-many-requests`; `unavailable` when the limiter cannot say.
 */
export type AssertAdmin = (context: ServiceContext) => Promise<void>;

export function createAssertAdmin({
  adminToken,
  limit,
}: {
  adminToken: Secret;
  limit: ClientLimit;
}): AssertAdmin {
  return async (context) => {
    await limit.take(context);
    assertBearer(context.req.header("Authorization"), adminToken);
    await limit.giveBack(context);
  };
}

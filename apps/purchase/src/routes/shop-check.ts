/** Whether the shop's own server asks. */
import type { ServiceContext } from "@vestibule/service/app";
import { assertBearer } from "@vestibule/service/bearer";
import { problem } from "@vestibule/service/problems";
import type { Secret } from "@vestibule/service/secret";

/** @throws AppError `unauthorized`, also for everybody while there is no such token. */
export function assertShop(context: ServiceContext, shopToken: Secret | undefined): void {
  if (shopToken === undefined) throw problem("unauthorized");
  assertBearer(context.req.header("Authorization"), shopToken);
}

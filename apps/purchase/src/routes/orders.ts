import { visitorSchema } from "@vestibule/contracts/line-api";
import { VISITOR_HEADER } from "@vestibule/contracts/names";
import { parse } from "@vestibule/contracts/parse";
import type { PurchaseAnswer } from "@vestibule/contracts/purchase-api";
import { noStore, type ServiceApp } from "@vestibule/service/app";
import { problem } from "@vestibule/service/problems";
import { hashVisitor } from "@vestibule/token/visitor";
import { readEvent } from "../attempt.ts";
import type { Ledger } from "../ledger-types.ts";
import type { ClientLimit } from "./client-limit.ts";
import type { AssertToken } from "./token-check.ts";

const ORDER_ID = /^[A-Za-z0-9_-]{22}$/;

export interface OrderRouteDependencies {
  readonly ledger: Ledger;
  readonly assertShop: AssertToken;
  /** For whoever is not the shop: anybody can make up names of orders. */
  readonly readLimit: Pick<ClientLimit, "take">;
}

/** `GET …/orders/{orderId}`: for the buyer's own visitor secret; for everybody else there is no such order. */
export function orderRoutes(
  app: ServiceApp,
  { ledger, assertShop, readLimit }: OrderRouteDependencies,
): void {
  app.get("/v1/events/:event/orders/:orderId", async (context) => {
    const event = readEvent(context);
    const orderId = context.req.param("orderId");
    const visitor = parse(visitorSchema, context.req.header(VISITOR_HEADER));
    if (!visitor.ok || !ORDER_ID.test(orderId)) throw problem("not-found");
    const by = context.req.header("Authorization") === undefined ? "buyer" : "shop";
    if (by === "shop") await assertShop(context);
    else await readLimit.take(context);
    const order: PurchaseAnswer | undefined = await ledger.order({
      event,
      visitor: hashVisitor(visitor.value),
      orderId,
      by,
    });
    if (order === undefined) throw problem("not-found");
    return noStore(context, 200, order);
  });
}

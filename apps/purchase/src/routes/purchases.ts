import {
  type HoldAnswer,
  type PurchaseAnswer,
  purchaseRequestSchema,
  type SpendAnswer,
} from "@vestibule/contracts/purchase-api";
import type { Clock } from "@vestibule/kernel/clock";
import { noStore, type ServiceApp, type ServiceContext } from "@vestibule/service/app";
import { readJson } from "@vestibule/service/json-body";
import { readAttempt } from "../attempt.ts";
import { type FlowDependencies, hold, purchase, spend } from "../flow.ts";
import type { AssertToken } from "./token-check.ts";

export interface PurchaseRouteDependencies extends FlowDependencies {
  readonly clock: Clock;
  readonly assertShop: AssertToken;
}

/** `POST …/purchases`, `POST …/holds` and `POST …/spends`: what uses up an admission. */
export function purchaseRoutes(app: ServiceApp, deps: PurchaseRouteDependencies): void {
  const { clock, assertShop } = deps;
  const attemptOf = (context: ServiceContext) =>
    readAttempt(context, { now: clock.now(), assertShop });

  app.post("/v1/events/:event/purchases", async (context) => {
    const attempt = await attemptOf(context);
    const request = await readJson(context.req.raw, purchaseRequestSchema);
    const answer: PurchaseAnswer = await purchase(attempt, request, deps);
    return noStore(context, 201, answer);
  });

  app.post("/v1/events/:event/holds", async (context) => {
    const attempt = await attemptOf(context);
    const request = await readJson(context.req.raw, purchaseRequestSchema);
    const answer: HoldAnswer = await hold(attempt, request, deps);
    return noStore(context, 201, answer);
  });

  app.post("/v1/events/:event/spends", async (context) => {
    const attempt = await attemptOf(context);
    const answer: SpendAnswer = await spend(attempt, deps);
    return noStore(context, 201, answer);
  });
}

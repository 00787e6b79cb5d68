import {
  type PurchaseAnswer,
  purchaseRequestSchema,
  type SpendAnswer,
} from "@vestibule/contracts/purchase-api";
import type { Clock } from "@vestibule/kernel/clock";
import { noStore, type ServiceApp } from "@vestibule/service/app";
import { readJson } from "@vestibule/service/json-body";
import { readAttempt } from "../attempt.ts";
import { type FlowDependencies, purchase, spend } from "../flow.ts";

/** `POST …/purchases` and `POST …/spends`: the only requests that change anything for a fan. */
export function purchaseRoutes(app: ServiceApp, deps: FlowDependencies & { clock: Clock }): void {
  app.post("/v1/events/:event/purchases", async (context) => {
    const attempt = readAttempt(context, deps.clock.now());
    const request = await readJson(context.req.raw, purchaseRequestSchema);
    const answer: PurchaseAnswer = await purchase(attempt, request, deps);
    return noStore(context, 201, answer);
  });

  app.post("/v1/events/:event/spends", async (context) => {
    const attempt = readAttempt(context, deps.clock.now());
    const answer: SpendAnswer = await spend(attempt, deps);
    return noStore(context, 201, answer);
  });
}

/** `GET /metrics`, for Prometheus. Every mint answers for itself, whether it leads or not. */
import type { ServiceApp } from "@vestibule/service/app";
import { assertBearer } from "@vestibule/service/bearer";
import { problem } from "@vestibule/service/problems";
import type { Secret } from "@vestibule/service/secret";
import type { MintMetrics } from "../metrics/mint-metrics.ts";

export interface MetricsRoute {
  readonly metrics: MintMetrics;
  /** `undefined`: nobody may read them. */
  readonly token: Secret | undefined;
}

export function addMetricsRoute(app: ServiceApp, { metrics, token }: MetricsRoute): void {
  app.get("/metrics", async (context) => {
    if (token === undefined) throw problem("unauthorized");
    assertBearer(context.req.header("Authorization"), token);
    return context.body(await metrics.text(), 200, {
      "Content-Type": metrics.contentType,
      "Cache-Control": "no-store",
    });
  });
}

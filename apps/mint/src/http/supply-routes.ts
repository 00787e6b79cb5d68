/** What the purchase API reports. Only a leader answers it. */
import { supplyReportSchema } from "@vestibule/contracts/supply-api";
import type { ServiceApp } from "@vestibule/service/app";
import { assertBearer } from "@vestibule/service/bearer";
import { readJson } from "@vestibule/service/json-body";
import { problem } from "@vestibule/service/problems";
import type { Secret } from "@vestibule/service/secret";
import { hearSupply } from "../line/supply.ts";
import type { Mint } from "../mint.ts";

export interface SupplyRoutes {
  readonly mint: Mint;
  /** `undefined`: nobody may report. */
  readonly token: Secret | undefined;
}

export function addSupplyRoutes(app: ServiceApp, { mint, token }: SupplyRoutes): void {
  app.use("/v1/supply/*", async (context, next) => {
    if (token === undefined) throw problem("unauthorized");
    assertBearer(context.req.header("Authorization"), token);
    await next();
  });

  app.put("/v1/supply/events/:event", async (context) => {
    const term = mint.leading();
    const entry = mint.entry(context.req.param("event"));
    const report = await readJson(context.req.raw, supplyReportSchema);
    // Whoever waits hears of it with the next statement; the drip goes on at once, not with the next tick.
    if (await hearSupply(entry.line, report)) term.tickSoon(entry, 0);
    return context.body(null, 204, { "Cache-Control": "no-store" });
  });
}

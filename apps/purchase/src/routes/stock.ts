import { parse } from "@vestibule/contracts/parse";
import { skuSchema, stockSettingsSchema } from "@vestibule/contracts/purchase-api";
import { noStore, type ServiceApp, type ServiceContext } from "@vestibule/service/app";
import { readJson } from "@vestibule/service/json-body";
import { problem } from "@vestibule/service/problems";
import { readEvent } from "../attempt.ts";
import type { Stock } from "../stock.ts";
import type { AssertToken } from "./token-check.ts";

export interface StockRouteDependencies {
  readonly stock: Stock;
  readonly assertAdmin: AssertToken;
  /** Whether the mint's events are known, and this is none of them. */
  readonly isNoEvent: (event: string) => Promise<boolean>;
}

/** The public view, and the organizer's settings behind a bearer token. */
export function stockRoutes(
  app: ServiceApp,
  { stock, assertAdmin, isNoEvent }: StockRouteDependencies,
): void {
  app.get("/v1/events/:event/stock", async (context) =>
    noStore(context, 200, await stock.view(readEvent(context))),
  );

  app.get("/v1/admin/events/:event/stock/:sku", async (context) => {
    await assertAdmin(context);
    const row = await stock.get(readEvent(context), readSku(context));
    if (row === undefined) throw problem("not-found");
    return noStore(context, 200, row);
  });

  app.put("/v1/admin/events/:event/stock/:sku", async (context) => {
    await assertAdmin(context);
    const [event, sku] = [readEvent(context), readSku(context)];
    const settings = await readJson(context.req.raw, stockSettingsSchema);
    const row = await stock.set(event, sku, settings);
    if (row === undefined) {
      throw problem("conflict", { detail: "More than that is sold or held already" });
    }
    // Set all the same: stock may be set before its event is.
    const warning = "The mint has no event of this name (yet): is it spelled right?";
    return noStore(context, 200, { ...row, ...((await isNoEvent(event)) ? { warning } : {}) });
  });
}

function readSku(context: ServiceContext): string {
  const read = parse(skuSchema, context.req.param("sku"));
  if (!read.ok) throw problem("not-found");
  return read.value;
}

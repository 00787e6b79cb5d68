import { skuSchema } from "@vestibule/contracts/purchase-api";
import { slugSchema } from "@vestibule/contracts/slug";
import { type Config, httpBase, optional, port, required, text } from "@vestibule/service/env";

/** The environment of the demo shop. It has no secret: it trusts nobody and holds nothing. */
export const VARIABLES = {
  host: optional("VESTIBULE_HOST", text({ charsMax: 255 }), "127.0.0.1"),
  port: required("VESTIBULE_PORT", port()),
  purchaseUrl: required("VESTIBULE_PURCHASE_URL", httpBase()),
  event: optional("VESTIBULE_EVENT", slugSchema, "demo"),
  sku: optional("VESTIBULE_SKU", skuSchema, "seat"),
};
export type ShopConfig = Config<typeof VARIABLES>;

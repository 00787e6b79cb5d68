/** The purchase API. Moments are epoch milliseconds. */
import * as z from "zod/mini";
import { QUANTITY_MAX, SKU_CHARS_MAX } from "./limits.ts";

export const skuSchema = z
  .string()
  .check(z.maxLength(SKU_CHARS_MAX), z.regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/));

/** `POST /v1/events/{event}/purchases`, with `Vestibule-Admission`, `Vestibule-Visitor`, `Idempotency-Key`. */
export const purchaseRequestSchema = z.strictObject({
  sku: skuSchema,
  quantity: z.int().check(z.gte(1), z.lte(QUANTITY_MAX)),
});
export type PurchaseRequest = z.infer<typeof purchaseRequestSchema>;

/** 201, and the same again for the same `Idempotency-Key`. */
export interface PurchaseAnswer {
  readonly orderId: string;
  readonly event: string;
  readonly sku: string;
  readonly quantity: number;
  readonly number: number;
  readonly purchasedAt: number;
}

/** 201 of `POST /v1/events/{event}/spends`: the bare spend, for a shop that keeps its own stock. */
export interface SpendAnswer {
  readonly event: string;
  readonly jti: string;
  readonly number: number;
  readonly spentAt: number;
}

/** `PUT /v1/admin/events/{event}/stock/{sku}`, bearer token. Never below what is sold. */
export const stockSettingsSchema = z.strictObject({
  total: z.int().check(z.gte(0), z.lte(1_000_000_000)),
  /** At most this many in one purchase. */
  perPurchaseMax: z._default(z.int().check(z.gte(1), z.lte(QUANTITY_MAX)), QUANTITY_MAX),
  /** Whether `GET /v1/events/{event}/stock` tells everybody how many are left. */
  showRemaining: z._default(z.boolean(), false),
});
export type StockSettings = z.infer<typeof stockSettingsSchema>;

/** One row of `GET /v1/events/{event}/stock`. */
export interface StockView {
  readonly sku: string;
  readonly available: boolean;
  readonly remaining?: number;
}

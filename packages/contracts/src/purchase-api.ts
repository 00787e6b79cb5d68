/** The purchase API. Moments are epoch milliseconds. */
import * as z from "zod/mini";
import {
  HOLD_EXTENSION_SECONDS_DEFAULT,
  HOLD_EXTENSION_SECONDS_MAX,
  HOLD_SECONDS_DEFAULT,
  HOLD_SECONDS_MAX,
  HOLD_SECONDS_MIN,
  PAYMENT_REFERENCE_CHARS_MAX,
  QUANTITY_MAX,
  SKU_CHARS_MAX,
} from "./limits.ts";

export const skuSchema = z
  .string()
  .check(z.maxLength(SKU_CHARS_MAX), z.regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/));

/** `POST /v1/events/{event}/purchases`, with `Vestibule-Admission`, `Vestibule-Visitor`, `Idempotency-Key`. */
export const purchaseRequestSchema = z.strictObject({
  sku: skuSchema,
  quantity: z.int().check(z.gte(1), z.lte(QUANTITY_MAX)),
});
export type PurchaseRequest = z.infer<typeof purchaseRequestSchema>;

/**
 * Money in the currency's smallest unit, as decimal digits: exact in every language. At most
 * 10^15 - 1 for one piece, so that any purchase of it fits PostgreSQL's `bigint`.
 */
const moneySchema = z.strictObject({
  minor: z.string().check(z.regex(/^(?:0|[1-9]\d{0,14})$/)),
  /** ISO 4217. */
  currency: z.string().check(z.regex(/^[A-Z]{3}$/)),
});
export type Money = z.infer<typeof moneySchema>;

/** 201, and the same again for the same `Idempotency-Key`. */
export interface PurchaseAnswer {
  readonly orderId: string;
  readonly event: string;
  readonly sku: string;
  readonly quantity: number;
  readonly number: number;
  readonly purchasedAt: number;
  /** Price × quantity, when the sku has a price. */
  readonly amount?: Money;
}

/** Seats that are kept for a buyer until `expiresAt`, by the clock of PostgreSQL. */
export interface HoldAnswer {
  readonly holdId: string;
  readonly event: string;
  readonly sku: string;
  readonly quantity: number;
  readonly number: number;
  /** `failed`: ended by a fault of the shop or ours; the admission is unspent again. */
  readonly state: "held" | "confirmed" | "cancelled" | "expired" | "failed";
  readonly heldAt: number;
  readonly expiresAt: number;
  /** Until when the buyer may have it extended, once; absent when that was done or is not offered. */
  readonly extendableTo?: number;
  /** Of a confirmed hold. */
  readonly orderId?: string;
  readonly amount?: Money;
}

/**
 * `POST /v1/events/{event}/holds`: as a purchase, with the same headers and body; 201 with `HoldAnswer`.
 * `GET …/holds/{holdId}` and `POST …/holds/{holdId}/extend` and `/cancel` are the buyer's.
 * `POST …/holds/{holdId}/confirm` is the shop's, by its bearer token; 201 with `PurchaseAnswer`.
 */
export const holdConfirmationSchema = z.strictObject({
  /**
   * The payment's name at its provider: the same hold with another one is refused. One payment may confirm several
   * holds (seats and parking of one basket).
   */
  paymentReference: z
    .string()
    .check(
      z.maxLength(PAYMENT_REFERENCE_CHARS_MAX),
      z.regex(/^[\x21-\x7e]+$/, "Must be visible ASCII characters"),
    ),
});

/**
 * Body of `POST …/holds/{holdId}/cancel`. `fault` (the shop's bearer token): the payment failed through
 * no fault of the buyer, so that the admission is unspent again.
 */
export const holdCancellationSchema = z.strictObject({
  reason: z._default(z.enum(["buyer", "fault"]), "buyer"),
});
export type HoldCancellation = z.infer<typeof holdCancellationSchema>;

/** 201 of `POST /v1/events/{event}/spends`: the bare spend, for a shop that keeps its own stock. */
export interface SpendAnswer {
  readonly event: string;
  readonly jti: string;
  readonly number: number;
  readonly spentAt: number;
}

/** Who a buyer is: whoever has an admission, or only users whom the shop names (`Vestibule-User`, its bearer token). */
export const STOCK_BUYERS = ["visitors", "users"] as const;
export type StockBuyers = (typeof STOCK_BUYERS)[number];

/** What is kept of a sku besides its total. */
export interface StockTerms {
  /** At most this many in one purchase. */
  readonly perPurchaseMax: number;
  /** Whether `GET /v1/events/{event}/stock` tells everybody how many are left. */
  readonly showRemaining: boolean;
  /** At most this many for one buyer, over all of their admissions; `null`: no bound. */
  readonly perBuyerMax: number | null;
  readonly buyers: StockBuyers;
  readonly holdSeconds: number;
  /** How much longer a buyer gets who asks, once; 0: not offered. */
  readonly holdExtensionSeconds: number;
  /** Of one piece; `null`: the shop knows it. */
  readonly price: Money | null;
}

/** Of a sku that is new, and of whatever is cleared. */
export const STOCK_DEFAULTS: StockTerms = {
  perPurchaseMax: QUANTITY_MAX,
  showRemaining: false,
  perBuyerMax: null,
  buyers: "visitors",
  holdSeconds: HOLD_SECONDS_DEFAULT,
  holdExtensionSeconds: HOLD_EXTENSION_SECONDS_DEFAULT,
  price: null,
};

/**
 * `PUT /v1/admin/events/{event}/stock/{sku}`, bearer token. Never below what is sold. What is absent stays as it is
 * (a new sku has `STOCK_DEFAULTS`); `null` sets the default again.
 */
export const stockSettingsSchema = z.strictObject({
  total: z.int().check(z.gte(0), z.lte(1_000_000_000)),
  perPurchaseMax: z.optional(z.nullable(z.int().check(z.gte(1), z.lte(QUANTITY_MAX)))),
  showRemaining: z.optional(z.nullable(z.boolean())),
  perBuyerMax: z.optional(z.nullable(z.int().check(z.gte(1), z.lte(1_000_000)))),
  buyers: z.optional(z.nullable(z.enum(STOCK_BUYERS))),
  holdSeconds: z.optional(
    z.nullable(z.int().check(z.gte(HOLD_SECONDS_MIN), z.lte(HOLD_SECONDS_MAX))),
  ),
  holdExtensionSeconds: z.optional(
    z.nullable(z.int().check(z.gte(0), z.lte(HOLD_EXTENSION_SECONDS_MAX))),
  ),
  price: z.optional(z.nullable(moneySchema)),
});
export type StockSettings = z.infer<typeof stockSettingsSchema>;

/** One row of `GET /v1/events/{event}/stock`. */
export interface StockView {
  readonly sku: string;
  readonly available: boolean;
  readonly remaining?: number;
  readonly price?: Money;
  readonly holdSeconds: number;
  readonly holdExtensionSeconds: number;
}

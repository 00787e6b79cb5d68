/** What the rows and the crowd of shoppers, a process of its own, say to each other. */

export interface Shopper {
  readonly visitor: string;
  readonly token: string;
  /** The shop's own name for the user, who may have several visitors. */
  readonly user?: string;
}

interface Shopping {
  readonly event: string;
  readonly sku: string;
  readonly shoppers: readonly Shopper[];
  /** Shown along with `user`. */
  readonly shopToken?: string;
}

export type ToShoppers =
  | { readonly type: "connect"; readonly ports: readonly number[]; readonly lanes: number }
  /** All at once, each on a lane of its own, each with a key of its own. */
  | ({ readonly type: "rush" } & Shopping)
  /**
   * Each tries, waits for the answer and tries again with a new key, until it has bought; `requests` are sent in
   * all. The first try of each `doubleEvery`-th shopper is sent twice, as by a double click; 0: of none.
   */
  | ({
      readonly type: "hammer";
      readonly requests: number;
      readonly doubleEvery: number;
    } & Shopping)
  /** A request every so often, whatever becomes of the others, until `halt`; what failed is tried again. */
  | ({ readonly type: "pace"; readonly perSecond: number } & Shopping)
  | { readonly type: "halt" };

export interface Answer {
  /** Index of the shopper. */
  readonly shopper: number;
  /** Milliseconds since 1970 with fractions. */
  readonly sentAtMs: number;
  readonly tookMs: number;
  /** `201`, `409 sold-out`, `503 unavailable`, or `none` and why. */
  readonly said: string;
  readonly orderId?: string;
}

export type FromShoppers =
  | { readonly type: "ready" }
  | { readonly type: "answers"; readonly elapsedMs: number; readonly answers: readonly Answer[] }
  | { readonly type: "failed"; readonly message: string };

/** The shop's side of the purchase API: passes on what the edge forwarded, decides nothing itself. */
import { isTokenShaped } from "@vestibule/contracts/header-text";
import {
  ADMISSION_HEADER,
  IDEMPOTENCY_KEY_HEADER,
  VISITOR_HEADER,
} from "@vestibule/contracts/names";
import { PURCHASE_DEADLINE_MS_MAX } from "@vestibule/contracts/limits";
import { PROBLEM_TYPE_PREFIX } from "@vestibule/contracts/problems";
import type { PurchaseAnswer, StockView } from "@vestibule/contracts/purchase-api";
import { assert } from "@vestibule/kernel/assert";

/** What the edge says of the fan. Whether it is true is for the purchase API. */
export interface Pass {
  readonly admission: string;
  readonly visitor: string;
}

export type BuyOutcome =
  | { readonly kind: "bought"; readonly order: PurchaseAnswer }
  | {
      /** `away`: no answer, or trouble over there: perhaps bought, perhaps not. The same key tells. */
      readonly kind: "already-spent" | "sold-out" | "not-admitted" | "held" | "refused" | "away";
      /** Proof that it failed by no fault of the fan: should their turn end now, they get another. */
      readonly credit?: string;
      /** Of `already-spent`: the order that this very buyer has made with it. */
      readonly orderId?: string;
    };

export interface PurchaseClient {
  buy(request: { pass: Pass; quantity: number; key: string }): Promise<BuyOutcome>;
  /** `undefined`: there is no such order for this visitor. `"away"`: not known right now. */
  order(visitor: string, orderId: string): Promise<PurchaseAnswer | "away" | undefined>;
  /** `"away"`: not known right now. */
  stock(): Promise<StockView | "away" | undefined>;
}

/** Longer than the purchase API's own deadline, so that its answer is heard. */
const DEADLINE_MS = 15_000;
assert(DEADLINE_MS > PURCHASE_DEADLINE_MS_MAX, "the purchase API's own answer is heard");
const STOCK_DEADLINE_MS = 2_000;

export function createPurchaseClient(options: {
  readonly purchaseUrl: string;
  readonly event: string;
  readonly sku: string;
}): PurchaseClient {
  const { purchaseUrl, event, sku } = options;
  const base = `${purchaseUrl}/v1/events/${event}`;
  return {
    buy: async ({ pass, quantity, key }) => {
      const answer = await call(`${base}/purchases`, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          [ADMISSION_HEADER]: pass.admission,
          [VISITOR_HEADER]: pass.visitor,
          [IDEMPOTENCY_KEY_HEADER]: key,
        },
        body: JSON.stringify({ sku, quantity }),
      });
      if (answer === undefined) return { kind: "away" };
      if (answer.status === 201) return { kind: "bought", order: answer.body as PurchaseAnswer };
      return outcomeOf(answer);
    },
    order: async (visitor, orderId) => {
      const headers = { [VISITOR_HEADER]: visitor };
      const answer = await call(`${base}/orders/${encodeURIComponent(orderId)}`, { headers });
      if (answer?.status === 200) return answer.body as PurchaseAnswer;
      return answer?.status === 404 ? undefined : "away";
    },
    stock: async () => {
      const answer = await call(`${base}/stock`, {}, STOCK_DEADLINE_MS);
      if (answer?.status !== 200) return "away";
      return (answer.body as StockView[]).find((row) => row.sku === sku);
    },
  };
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** `undefined` when there was no answer, or none that is JSON. */
async function call(
  url: string,
  init: RequestInit,
  deadlineMs: number = DEADLINE_MS,
): Promise<Answer | undefined> {
  try {
    const signal = AbortSignal.timeout(deadlineMs);
    const response = await fetch(url, { ...init, signal, redirect: "error" });
    return { status: response.status, body: await response.json() };
  } catch {
    return undefined;
  }
}

function outcomeOf({ status, body }: Answer): BuyOutcome {
  const { type, credit, orderId } = (body ?? {}) as Readonly<Record<string, unknown>>;
  const code = typeof type === "string" ? type.replace(PROBLEM_TYPE_PREFIX, "") : "";
  const kept = status >= 500 && isTokenShaped(credit) ? { credit } : {};
  if (code === "already-spent" && typeof orderId === "string") return { kind: code, orderId };
  if (code === "already-spent" || code === "sold-out" || code === "held") {
    return { kind: code, ...kept };
  }
  if (status === 401) return { kind: "not-admitted" };
  return { kind: status >= 500 || code === "in-progress" ? "away" : "refused", ...kept };
}

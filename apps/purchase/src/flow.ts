/** From a request to an order, step by step (design section 8). */
import type { PurchaseRequest } from "@vestibule/contracts/purchase-api";
import { assert } from "@vestibule/kernel/assert";
import { problem } from "@vestibule/service/problems";
import { type AdmitDependencies, type Admitted, admit } from "./admit.ts";
import type { Attempt } from "./attempt.ts";
import type { Ledger, LedgerOutcome, LedgerRefusal, Order, Spend, SpendRequest } from "./ledger.ts";
import type { InventoryGate, PurchaseLimiter } from "./ports.ts";

export interface FlowDependencies extends AdmitDependencies {
  readonly limiter: PurchaseLimiter;
  readonly gate: InventoryGate;
  readonly ledger: Ledger;
  /** A name for a new order, 128 random bits. */
  readonly newOrderId: () => string;
}

/** How long a caller waits after others kept it from the stock row, seconds. */
const CONTENDED_RETRY_AFTER_SECONDS = 1;

/** @throws AppError for every refusal; nothing is spent then. */
export async function purchase(
  attempt: Attempt,
  request: PurchaseRequest,
  deps: FlowDependencies,
): Promise<Order> {
  const admittance = await admit(attempt, deps); // 1
  if (admittance.kind === "over") {
    return orderOf(
      await recallOr(admittance.refusal, attempt, admittance.visitor, { request, deps }),
    );
  }
  const { admitted } = admittance;
  await deps.limiter.take(admitted); // 2
  const pass = await deps.gate.enter({ ...request, event: admitted.event, jti: admitted.jti }); // 3
  let sold = false;
  try {
    const outcome = await deps.ledger.purchase({
      ...spendRequest(attempt, admitted),
      ...request,
      orderId: deps.newOrderId(),
    }); // 4
    sold = outcome.kind === "bought";
    return orderOf(outcome);
  } finally {
    await deps.gate.settle(pass, sold); // 5
  }
}

/** @throws AppError for every refusal; nothing is spent then. */
export async function spend(attempt: Attempt, deps: FlowDependencies): Promise<Spend> {
  const admittance = await admit(attempt, deps);
  if (admittance.kind === "over") {
    return spendOf(await recallOr(admittance.refusal, attempt, admittance.visitor, { deps }));
  }
  await deps.limiter.take(admittance.admitted);
  return spendOf(await deps.ledger.spend(spendRequest(attempt, admittance.admitted)));
}

/** An answer that was lost can be had again after the admission's time; anything else is refused. */
async function recallOr(
  refusal: Error,
  { event, idempotencyKey }: Attempt,
  visitor: string,
  { request, deps }: { request?: PurchaseRequest; deps: FlowDependencies },
): Promise<LedgerOutcome> {
  const known = await deps.ledger.recall({ event, visitor, idempotencyKey }, request);
  if (known?.kind === "bought" || known?.kind === "spent") return known;
  throw refusal;
}

function spendRequest(
  { idempotencyKey, now }: Attempt,
  { event, visitor, jti, number }: Admitted,
): SpendRequest {
  return { event, visitor, jti, number, idempotencyKey, now };
}

function orderOf(outcome: LedgerOutcome): Order {
  if (outcome.kind === "bought") return outcome.order;
  assert(outcome.kind !== "spent", "a purchase is answered with an order");
  throw refused(outcome);
}

function spendOf(outcome: LedgerOutcome): Spend {
  if (outcome.kind === "spent") return outcome.spend;
  assert(outcome.kind !== "bought", "a bare spend is answered with a spend");
  throw refused(outcome);
}

/** None of these says how much is left. */
function refused(refusal: LedgerRefusal): Error {
  switch (refusal.kind) {
    case "already-spent":
    case "idempotency-mismatch":
    case "sold-out":
      return problem(refusal.kind);
    case "unknown-sku":
      return problem("not-found", { detail: "This event sells no such thing" });
    case "over-limit":
      return problem("bad-request", {
        detail: "That is more than one purchase may have",
        extensions: {
          errors: [{ field: "quantity", message: `must be at most ${refusal.perPurchaseMax}` }],
        },
      });
    case "contended":
      return problem("unavailable", {
        internal: "contended",
        retryAfterSeconds: CONTENDED_RETRY_AFTER_SECONDS,
      });
  }
}

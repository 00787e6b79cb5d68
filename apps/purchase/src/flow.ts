/** From a request to an order, step by step (design section 8). */
import type { PurchaseRequest } from "@vestibule/contracts/purchase-api";
import { PROBLEMS, type ProblemCode } from "@vestibule/contracts/problems";
import { AppError } from "@vestibule/kernel/app-error";
import { assert } from "@vestibule/kernel/assert";
import { problem } from "@vestibule/service/problems";
import { type AdmitDependencies, type Admitted, admit } from "./admit.ts";
import type { Attempt } from "./attempt.ts";
import type { Credits } from "./credits.ts";
import type { GateKeeper, GatePass, Wish } from "./gate-keeper.ts";
import { buyerOf, limitedIdentity } from "./identity.ts";
import type {
  Asked,
  Hold,
  Ledger,
  LedgerOutcome,
  LedgerRefusal,
  Order,
  Spend,
  SpendRequest,
} from "./ledger-types.ts";
import type { Limiter } from "./limiter.ts";
import type { SupplyWatch } from "./ports.ts";
import type { SameAdmission } from "./same-admission.ts";

export interface FlowDependencies extends AdmitDependencies {
  readonly limiter: Limiter;
  readonly gate: GateKeeper;
  readonly sameAdmission: SameAdmission;
  readonly ledger: Ledger;
  readonly credits: Credits;
  readonly supply: SupplyWatch;
  /** A name for a new order or hold, 128 random bits. */
  readonly newId: () => string;
}

/** How long a caller waits after others kept it from the stock row, or its own other request did, seconds. */
const CONTENDED_RETRY_AFTER_SECONDS = 1;

/** @throws AppError for every refusal; nothing is spent then. */
export async function purchase(
  attempt: Attempt,
  request: PurchaseRequest,
  deps: FlowDependencies,
): Promise<Order> {
  const asked = { kind: "purchase", ...request } as const;
  const outcome = await answered(attempt, asked, deps, (spend) =>
    throughGate(spend, asked, deps, () =>
      deps.ledger.purchase({ ...spend, ...request, orderId: deps.newId() }),
    ),
  );
  if (outcome.kind === "bought") return outcome.order;
  throw refused(outcome);
}

/** The same for seats that are kept until they are paid for. @throws AppError for every refusal. */
export async function hold(
  attempt: Attempt,
  request: PurchaseRequest,
  deps: FlowDependencies,
): Promise<Hold> {
  const asked = { kind: "hold", ...request } as const;
  const outcome = await answered(attempt, asked, deps, (spend, { slot }) =>
    throughGate(spend, asked, deps, () =>
      deps.ledger.hold({ ...spend, ...request, holdId: deps.newId(), slot }),
    ),
  );
  if (outcome.kind === "held") return outcome.hold;
  throw refused(outcome);
}

/** The bare spend: no stock of ours, so no gate. @throws AppError for every refusal. */
export async function spend(attempt: Attempt, deps: FlowDependencies): Promise<Spend> {
  const outcome = await answered(attempt, { kind: "spend" }, deps, (request) =>
    deps.ledger.spend(request),
  );
  if (outcome.kind === "spent") return outcome.spend;
  throw refused(outcome);
}

/** Steps 1 and 2, and what follows from a fault of ours behind them. */
async function answered(
  attempt: Attempt,
  asked: Asked,
  deps: FlowDependencies,
  act: (request: SpendRequest, admitted: Admitted) => Promise<LedgerOutcome>,
): Promise<LedgerOutcome> {
  const admittance = await admit(attempt, deps); // 1
  const { visitor } = admittance.kind === "good" ? admittance.admitted : admittance;
  const identity = limitedIdentity(visitor, attempt.user);
  if (admittance.kind === "over") {
    await deps.limiter.take(identity, attempt.answerHeaders);
    return recallOr(admittance.refusal, attempt, { visitor, asked, deps });
  }
  const { admitted } = admittance;
  try {
    await deps.limiter.take(identity, attempt.answerHeaders); // 2
    return await act(spendRequest(attempt, admitted), admitted);
  } catch (error) {
    throw await withCredit(error, { admitted, attempt, deps });
  }
}

/** Steps 3 to 5, for several attempts of one admission at once only once. */
async function throughGate(
  spend: SpendRequest,
  asked: Extract<Asked, PurchaseRequest>,
  deps: FlowDependencies,
  transact: () => Promise<LedgerOutcome>,
): Promise<LedgerOutcome> {
  const { event, jti, idempotencyKey } = spend;
  const { kind, sku, quantity } = asked;
  const wish = { event, sku, quantity, jti };
  // The buyer too: a limit that holds for one may not hold for another.
  const text = JSON.stringify([spend.buyer, idempotencyKey, kind, sku, quantity]);
  return deps.sameAdmission.join({ jti, idempotencyKey, text }, async () => {
    const pass = await deps.gate.enter(wish); // 3
    if (pass.kind === "over-limit") return pass;
    if (pass.kind === "sold-out" && !(await mayBeKnown(pass, wish, deps))) {
      return { kind: "sold-out" };
    }
    const outcome = await transact().catch((error: unknown) => {
      // It may have been committed: the lease stays until the repair has looked it up.
      deps.gate.leave(pass, "lost");
      throw error;
    }); // 4
    deps.gate.leave(pass, outcome); // 5
    const isTaken = outcome.kind === "bought" || outcome.kind === "held";
    if (isTaken && outcome.left === 0) deps.supply(event);
    return outcome;
  });
}

/** A gate that lost its memory asks before it refuses: this buyer may have bought, or something may be left. */
async function mayBeKnown(
  { sure }: Extract<GatePass, { kind: "sold-out" }>,
  { event, sku, quantity, jti }: Wish,
  { ledger }: FlowDependencies,
): Promise<boolean> {
  if (sure) return false;
  const standing = await ledger.standing({ event, sku, jtis: [jti] });
  if (standing === undefined || standing.spent.length > 0) return true;
  return standing.left >= quantity || quantity > standing.perPurchaseMax;
}

/** An answer that was lost can be had again after the admission's time; anything else is refused. */
async function recallOr(
  refusal: Error,
  { event, idempotencyKey }: Attempt,
  { visitor, asked, deps }: { visitor: string; asked: Asked; deps: FlowDependencies },
): Promise<LedgerOutcome> {
  const known = await deps.ledger.recall({ event, visitor, idempotencyKey }, asked);
  if (known?.kind === "bought" || known?.kind === "held" || known?.kind === "spent") return known;
  throw refusal;
}

function spendRequest(
  { idempotencyKey, now, user }: Attempt,
  { event, visitor, jti, number }: Admitted,
): SpendRequest {
  return { event, visitor, buyer: buyerOf(visitor, user), jti, number, idempotencyKey, now };
}

/** `cause`, with proof for the mint when it is a fault of ours: the buyer's slot may run out meanwhile. */
async function withCredit(
  cause: unknown,
  { admitted, attempt, deps }: { admitted: Admitted; attempt: Attempt; deps: FlowDependencies },
): Promise<unknown> {
  const known = cause instanceof AppError ? cause : undefined;
  const code = (known?.code ?? "internal") as ProblemCode;
  if (PROBLEMS[code].status < 500) return cause;
  const credit = await creditFor(admitted, attempt, deps);
  if (credit === undefined) return cause;
  return problem(code, {
    ...(known?.detail === undefined ? {} : { detail: known.detail }),
    ...(known?.internal === undefined ? {} : { internal: known.internal }),
    ...(known?.retryAfterSeconds === undefined
      ? {}
      : { retryAfterSeconds: known.retryAfterSeconds }),
    extensions: { ...known?.extensions, credit },
    cause,
  });
}

/** The refusal itself must not fail for want of a credit. */
async function creditFor(
  admitted: Admitted,
  { now }: Attempt,
  { credits, log }: FlowDependencies,
): Promise<string | undefined> {
  try {
    return await credits.for(admitted, now);
  } catch (error) {
    log.error("credit-not-signed", error);
    return undefined;
  }
}

/** None of these says how much is left. */
function refused(outcome: LedgerOutcome): Error {
  assert(isRefusal(outcome), "a request is answered with what it asked for");
  switch (outcome.kind) {
    case "already-spent":
      return problem("already-spent", {
        extensions: outcome.holdId === undefined ? {} : { holdId: outcome.holdId },
      });
    case "idempotency-mismatch":
    case "sold-out":
    case "buyer-limit":
      return problem(outcome.kind);
    case "in-progress":
      return problem("in-progress", { retryAfterSeconds: CONTENDED_RETRY_AFTER_SECONDS });
    case "unknown-sku":
      return problem("not-found", { detail: "This event sells no such thing" });
    case "over-limit":
      return problem("bad-request", {
        detail: "That is more than one purchase may have",
        extensions: {
          errors: [{ field: "quantity", message: `must be at most ${outcome.perPurchaseMax}` }],
        },
      });
    case "contended":
      return problem("unavailable", {
        internal: "contended",
        retryAfterSeconds: CONTENDED_RETRY_AFTER_SECONDS,
      });
  }
}

function isRefusal(outcome: LedgerOutcome): outcome is LedgerRefusal {
  return !["bought", "held", "spent"].includes(outcome.kind);
}

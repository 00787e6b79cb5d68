/** From a request to an order, step by step (design section 8). */
import type { PurchaseRequest } from "@vestibule/contracts/purchase-api";
import { PROBLEMS, type ProblemCode } from "@vestibule/contracts/problems";
import { AppError } from "@vestibule/kernel/app-error";
import { assert } from "@vestibule/kernel/assert";
import { problem } from "@vestibule/service/problems";
import { type AdmitDependencies, type Admitted, admit } from "./admit.ts";
import type { Attempt } from "./attempt.ts";
import type { Credits } from "./credits.ts";
import type { GateKeeper } from "./gate-keeper.ts";
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
import { CONTENDED_RETRY_AFTER_SECONDS } from "./limits.ts";
import type { SupplyWatch } from "./supply-reporter.ts";

export interface FlowDependencies extends AdmitDependencies {
  readonly limiter: Limiter;
  readonly gate: GateKeeper;
  readonly ledger: Ledger;
  readonly credits: Credits;
  readonly supply: SupplyWatch;
  /** A name for a new order or hold, 128 random bits. */
  readonly newId: () => string;
}

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
  if (admittance.kind === "over") {
    const { visitor, refusal, genuine } = admittance;
    await deps.limiter.take(limitedIdentity(visitor, attempt.user), attempt.answerHeaders);
    try {
      return await recallOr(refusal, attempt, { visitor, asked, deps });
    } catch (error) {
      // Whether they bought in time is what we cannot say, and the answer with a credit may have been lost, too.
      throw await withCredit(error, { admitted: genuine, attempt, deps });
    }
  }
  const { admitted } = admittance;
  try {
    await deps.limiter.take(limitedIdentity(admitted.visitor, attempt.user), attempt.answerHeaders); // 2
  } catch (error) {
    // The books were not asked yet: whoever bought already lost nothing, if they can say so quickly.
    const unlessSpent = async () =>
      (await deps.ledger.isSpent(admitted.jti).catch(() => false)) ? undefined : admitted;
    throw await withCredit(error, { admitted: unlessSpent, attempt, deps });
  }
  try {
    return await act(spendRequest(attempt, admitted), admitted);
  } catch (error) {
    throw await withCredit(error, { admitted: () => Promise.resolve(admitted), attempt, deps });
  }
}

/** Steps 3 to 5. */
async function throughGate(
  { event, jti }: SpendRequest,
  { sku, quantity }: PurchaseRequest,
  deps: FlowDependencies,
  transact: () => Promise<LedgerOutcome>,
): Promise<LedgerOutcome> {
  const pass = await deps.gate.enter({ event, sku, quantity, jti }); // 3
  if (pass.kind === "over-limit" || pass.kind === "sold-out") return pass;
  const outcome = await transact().catch((error: unknown) => {
    // It may have been committed: the lease stays until the repair has looked it up.
    deps.gate.leave(pass, "lost");
    throw error;
  }); // 4
  deps.gate.leave(pass, outcome); // 5
  const isTaken = outcome.kind === "bought" || outcome.kind === "held";
  if (isTaken && outcome.left === 0) deps.supply(event);
  return outcome;
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
  {
    admitted,
    attempt,
    deps,
  }: {
    admitted: () => Promise<Admitted | undefined>;
    attempt: Attempt;
    deps: FlowDependencies;
  },
): Promise<unknown> {
  const known = cause instanceof AppError ? cause : undefined;
  const code = (known?.code ?? "internal") as ProblemCode;
  if (PROBLEMS[code].status < 500) return cause;
  const lost = await admitted();
  const credit = lost && (await deps.credits.for(lost, attempt.now));
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

/** None of these says how much is left. */
function refused(outcome: LedgerOutcome): Error {
  assert(isRefusal(outcome), "a request is answered with what it asked for");
  switch (outcome.kind) {
    case "already-spent": {
      const { kind, ...made } = outcome;
      return problem(kind, { extensions: made });
    }
    case "idempotency-mismatch":
    case "sold-out":
    case "buyer-limit":
      return problem(outcome.kind);
    case "in-progress":
      return problem("in-progress", { retryAfterSeconds: CONTENDED_RETRY_AFTER_SECONDS });
    case "unknown-sku":
      return problem("not-found", { detail: "This event sells no such thing" });
    case "users-only":
      return problem("forbidden", {
        detail: "This is sold to users of the shop only: sign in there and buy there",
      });
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

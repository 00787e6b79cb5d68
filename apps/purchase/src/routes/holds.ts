import { visitorSchema } from "@vestibule/contracts/line-api";
import { VISITOR_HEADER } from "@vestibule/contracts/names";
import { parse } from "@vestibule/contracts/parse";
import {
  type HoldAnswer,
  type HoldCancellation,
  holdCancellationSchema,
  holdConfirmationSchema,
  type PurchaseAnswer,
} from "@vestibule/contracts/purchase-api";
import type { Clock } from "@vestibule/kernel/clock";
import { noStore, type ServiceApp, type ServiceContext } from "@vestibule/service/app";
import { readJson } from "@vestibule/service/json-body";
import { problem } from "@vestibule/service/problems";
import { hashVisitor } from "@vestibule/token/visitor";
import { readEvent } from "../attempt.ts";
import type { Credits } from "../credits.ts";
import type { HoldActor, HoldName, HoldOutcome, HoldRefusal, Holds } from "../ledger-types.ts";
import type { ClientLimit } from "./client-limit.ts";
import type { AssertToken } from "./token-check.ts";

export interface HoldRouteDependencies {
  readonly holds: Holds;
  readonly clock: Clock;
  readonly assertShop: AssertToken;
  /** A name for a new order, 128 random bits. */
  readonly newOrderId: () => string;
  /** Signs what a buyer shows the mint after a hold that failed by a fault. */
  readonly credits: Credits;
  /** For whoever is not the shop: anybody can make up names of holds. */
  readonly readLimit: Pick<ClientLimit, "take">;
}

const HOLD_ID = /^[A-Za-z0-9_-]{22}$/;
const HOLD_PATH = "/v1/events/:event/holds/:holdId";

/**
 * What happens to a hold that was made (`POST …/holds` is a purchase route). To whoever is neither
 * its buyer nor the shop there is no such hold.
 */
export function holdRoutes(app: ServiceApp, deps: HoldRouteDependencies): void {
  const { holds, clock, assertShop, newOrderId, credits, readLimit } = deps;
  const limited = async (context: ServiceContext, by: HoldActor): Promise<HoldActor> => {
    if (by.kind === "buyer") await readLimit.take(context);
    return by;
  };

  app.get(HOLD_PATH, async (context) => {
    const name = readName(context);
    const by = await limited(context, await readActor(context, assertShop));
    const hold = await holds.get({ ...name, by });
    if (hold === undefined) throw problem("not-found");
    return answer(context, 200, hold);
  });

  app.post(`${HOLD_PATH}/extend`, async (context) => {
    const name = readName(context);
    const visitor = readVisitor(context);
    await readLimit.take(context);
    return answer(context, 200, holdOf(await holds.extend({ ...name, visitor })));
  });

  app.post(`${HOLD_PATH}/confirm`, async (context) => {
    await assertShop(context);
    const name = readName(context);
    const { paymentReference } = await readJson(context.req.raw, holdConfirmationSchema);
    const orderId = newOrderId();
    const outcome = await holds.confirm({ ...name, paymentReference, orderId, now: clock.now() });
    if (outcome.kind !== "confirmed") throw refused(outcome);
    const order: PurchaseAnswer = outcome.order;
    return noStore(context, 201, order);
  });

  app.post(`${HOLD_PATH}/cancel`, async (context) => {
    const name = readName(context);
    const by = await limited(context, await readActor(context, assertShop));
    const { reason } = await readCancellation(context);
    if (reason === "buyer")
      return answer(context, 200, holdOf(await holds.cancel({ ...name, by })));
    // A buyer's word would make any admission good for another try.
    if (by.kind !== "shop") throw problem("unauthorized");
    const outcome = await holds.fail(name);
    if (outcome.kind !== "done") throw refused(outcome);
    const credit = await credits.for(outcome.unspent, clock.now());
    return answer(context, 200, { ...outcome.hold, ...(credit === undefined ? {} : { credit }) });
  });
}

/** Without a body it is the buyer's own word. */
function readCancellation(context: ServiceContext): Promise<HoldCancellation> {
  if (context.req.header("Content-Type") === undefined) return Promise.resolve({ reason: "buyer" });
  return readJson(context.req.raw, holdCancellationSchema);
}

/** `credit`: what the buyer shows to the mint when the slot is over by now. */
function answer(
  context: ServiceContext,
  status: number,
  hold: HoldAnswer & { readonly credit?: string },
): Response {
  return noStore(context, status, hold);
}

/** @throws AppError `event-not-found`, `not-found`. */
function readName(context: ServiceContext): HoldName {
  const event = readEvent(context);
  const holdId = context.req.param("holdId") ?? "";
  if (!HOLD_ID.test(holdId)) throw problem("not-found");
  return { event, holdId };
}

/**
 * A bearer token makes it the shop; else it is the buyer by the visitor's secret.
 *
 * @throws AppError `unauthorized` for a wrong token, `not-found` without either.
 */
async function readActor(context: ServiceContext, assertShop: AssertToken): Promise<HoldActor> {
  if (context.req.header("Authorization") === undefined) {
    return { kind: "buyer", visitor: readVisitor(context) };
  }
  await assertShop(context);
  return { kind: "shop" };
}

/** @throws AppError `not-found`: without a visitor's secret nobody has a hold. */
function readVisitor(context: ServiceContext): string {
  const visitor = parse(visitorSchema, context.req.header(VISITOR_HEADER));
  if (!visitor.ok) throw problem("not-found");
  return hashVisitor(visitor.value);
}

function holdOf(outcome: HoldOutcome): HoldAnswer {
  if (outcome.kind === "done") return outcome.hold;
  throw refused(outcome);
}

function refused(refusal: HoldRefusal): Error {
  switch (refusal.kind) {
    case "no-such-hold":
      return problem("not-found");
    case "over":
      return problem("hold-over", { extensions: { state: "expired" } });
    case "conflict":
      return problem("conflict", {
        detail: DETAILS[refusal.state],
        extensions: { state: refusal.state },
      });
  }
}

/** What stands in the way, by the hold's state. */
const DETAILS: Readonly<Record<HoldAnswer["state"], string>> = {
  held: "This hold cannot be extended",
  confirmed: "This hold was confirmed and is an order now",
  cancelled: "This hold was cancelled",
  expired: "The time of this hold is over",
  failed: "This hold failed and its admission may be used again",
};

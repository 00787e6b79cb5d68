/** What a checkout does with each outcome of a spend. */
import { guard } from "./guard.mjs";

/**
 * `cart.id` is the shop's own name for this attempt to buy. It stays the same however often the buyer
 * presses the button, so that an answer that was lost can be had again.
 */
export async function sell(admission, cart) {
  const outcome = await guard.spend(admission, { idempotencyKey: cart.id });
  switch (outcome.kind) {
    case "spent":
      return { status: 201, body: { order: cart.id, place: outcome.spend.number } };
    case "already-spent":
      return { status: 409, body: { message: "You have bought already." } };
    case "held":
    case "too-many-requests":
    case "away": // perhaps spent: the buyer tries again, with the same cart
      return {
        status: 503,
        headers: { "Retry-After": String(Math.ceil(outcome.retryAfterMs / 1000)) },
        body: { message: "One moment, please try again.", retryAfterMs: outcome.retryAfterMs },
      };
    case "refused":
      console.warn("spend refused", outcome.status, outcome.code);
      return { status: 403, body: { message: "This purchase cannot go on." } };
  }
}

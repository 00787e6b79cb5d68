/** What a checkout does with each outcome of a spend. */
import { guard } from "./guard.mjs";
import { markSold, openOrder } from "./orders.mjs";

const SEATS_MAX = 4;

/** `wanted` is what the browser sent: anything, or nothing. */
export async function sell(admission, wanted) {
  const seats = wanted?.seats;
  if (!Number.isInteger(seats) || seats < 1 || seats > SEATS_MAX) {
    return { status: 400, body: { message: `Seats: 1 to ${SEATS_MAX}.` } };
  }
  const order = openOrder(admission.jti, { seats });
  const outcome = await guard.spend(admission, { idempotencyKey: order.id });
  switch (outcome.kind) {
    case "spent": // again for every repetition: the same sale, not another
      if (markSold(outcome.jti)) console.warn("take the money, once, for", order.id);
      return {
        status: 201,
        body: { order: order.id, seats: order.seats, place: admission.number },
      };
    case "already-spent":
      return { status: 409, body: { message: "You have bought already." } };
    case "held":
    case "too-many-requests":
      return later(outcome);
    case "away": // perhaps spent: the buyer tries again, and it is the same order
      return later(outcome, creditCookie(admission.event, outcome.credit));
    case "refused":
      console.warn("spend refused", outcome.status, outcome.code);
      return { status: 403, body: { message: "This purchase cannot go on." } };
  }
}

function later({ retryAfterMs }, cookies = {}) {
  return {
    status: 503,
    headers: { "Retry-After": String(Math.ceil(retryAfterMs / 1000)), ...cookies },
    body: { message: "One moment, please try again.", retryAfterMs },
  };
}

/** Should the turn end meanwhile, the waiting room finds it there, and the fan gets the next one. Good for a day. */
function creditCookie(event, credit) {
  if (credit === undefined) return {};
  const name = `__Host-vst-credit-${event}`;
  return {
    "Set-Cookie": `${name}=${credit}; Path=/; Max-Age=86400; HttpOnly; SameSite=Lax; Secure`,
  };
}

/** Every page of the shop. All texts go through `html`, which escapes them. */
import type { PurchaseAnswer, StockView } from "@vestibule/contracts/purchase-api";
import { html } from "hono/html";
import { type BuyForm, QUANTITY_CHOICES } from "../buy-form.ts";
import { orderPath } from "../order-cookies.ts";
import { type Html, linkButton, notice } from "./layout.ts";
import { poster } from "./poster.ts";

const SHOW = {
  name: "Lantern Nights",
  line: "An evening of strings and light on the lake",
  when: "Saturday, 12 June, 21:00",
  where: "Lantern Hall, the lake stage",
};

/**
 * @param stock when it is not known, the way to the sale is offered: the line knows better.
 * @param orderId of the order that this browser made before
 */
export function homePage(
  event: string,
  stock: StockView | "away" | undefined,
  orderId: string | undefined,
): Html {
  const soldOut = stock !== undefined && stock !== "away" && !stock.available;
  return html`<section class="card">
    ${poster()}
    <p class="kicker">${soldOut ? "Sold out" : "On sale now"}</p>
    <h1>${SHOW.name}</h1>
    <p class="lead">${SHOW.line}</p>
    ${facts()} ${orderId === undefined ? wayToSale(event, soldOut) : bought(orderId)}
  </section>`;
}

function wayToSale(event: string, soldOut: boolean): Html {
  const hint = soldOut
    ? "Every seat is taken. When one comes back, the sale goes on for whoever is in line."
    : "When many come at once you wait in line for a moment. Your place is kept.";
  return html`${linkButton(eventPath(event), soldOut ? "See whether seats come back" : "Get seats")}
    <p class="hint">${hint}</p>`;
}

export interface EventPageOptions {
  readonly event: string;
  readonly stock: StockView | "away" | undefined;
  /** Whether the edge said who this is. Without it there is nothing to press. */
  readonly admitted: boolean;
  readonly key: string;
  /** The order that this browser made before. */
  readonly orderId: string | undefined;
}

export function eventPage(options: EventPageOptions): Html {
  const { stock } = options;
  return html`<section class="card">
    ${poster()}
    <h1>${SHOW.name}</h1>
    <p class="lead">${SHOW.line}</p>
    ${facts()}
    <p class="stock" role="status">${stockText(stock)}</p>
    ${wayToBuy(options)}
  </section>`;
}

function wayToBuy({ event, stock, admitted, key, orderId }: EventPageOptions): Html {
  if (orderId !== undefined) return bought(orderId);
  if (!admitted) {
    return html`<p class="lead">Seats are sold to whoever comes through the waiting room.</p>
      <p class="hint">
        Open this page at the shop's public address, and you are let in in your turn.
      </p>`;
  }
  if (stock !== "away" && stock?.available === false) {
    return html`<p class="hint">All seats are taken. Thank you for waiting with us.</p>`;
  }
  // Nobody is offered more than there is.
  const left = (stock === "away" ? undefined : stock?.remaining) ?? Infinity;
  const choices = QUANTITY_CHOICES.filter((quantity) => quantity <= left);
  return html`<form method="post" action="${eventPath(event)}/buy">
    <input type="hidden" name="key" value="${key}" />
    <label for="quantity">Seats</label>
    <select id="quantity" name="quantity">
      ${choices.map((quantity) => html`<option value="${quantity}">${quantity}</option>`)}
    </select>
    <button class="button" type="submit">Buy</button>
    <p class="hint">One purchase for each place in line. Pressing twice buys once.</p>
  </form>`;
}

function bought(orderId: string): Html {
  return html`<p class="lead">You have your seats.</p>
    ${linkButton(orderPath(orderId), "Show my order")}`;
}

export function orderPage(order: PurchaseAnswer): Html {
  const one = order.quantity === 1;
  return html`<section class="card">
    <p class="done" aria-hidden="true">✓</p>
    <h1>See you there</h1>
    <p class="lead">
      ${one ? "1 seat" : `${order.quantity} seats`} for ${SHOW.name} ${one ? "is" : "are"} yours.
    </p>
    <dl class="facts">
      <div>
        <dt>Order</dt>
        <dd class="code">${order.orderId}</dd>
      </div>
      <div>
        <dt>Seats</dt>
        <dd>${order.quantity}</dd>
      </div>
      <div>
        <dt>Place in line</dt>
        <dd>${order.number}</dd>
      </div>
      <div>
        <dt>When</dt>
        <dd>${SHOW.when}</dd>
      </div>
      <div>
        <dt>Where</dt>
        <dd>${SHOW.where}</dd>
      </div>
    </dl>
    <p class="hint">
      Keep this page's address: it opens for 30 days, in this browser only. The front page leads
      here as well.
    </p>
  </section>`;
}

/** What can be said instead of an order. */
export type Refusal =
  | "already-bought"
  | "sold-out"
  | "not-admitted"
  | "paused"
  | "away"
  | "order-away"
  | "refused"
  | "cross-site"
  | "not-found"
  | "failed";

const REFUSALS: Readonly<Record<Refusal, readonly [heading: string, text: string]>> = {
  "already-bought": [
    "You have bought already",
    "Your place in line was good for one purchase, and it was used. Nothing more was bought.",
  ],
  "sold-out": [
    "Not enough seats left",
    "There are fewer seats than you asked for, or none. Nothing was bought, and your turn is still yours: try fewer.",
  ],
  "not-admitted": [
    "It is not your turn",
    "Your turn has not come, or it is over. Nothing was bought. Go to the event page: it keeps or gives you a place in line.",
  ],
  paused: ["The sale is paused", "Nothing was bought. Your turn is kept: try again in a moment."],
  away: [
    "The ticket office does not answer",
    "We cannot tell yet whether your purchase went through. Try again: the same purchase is never made twice.",
  ],
  "order-away": ["The ticket office does not answer", "Your order is safe. Try again in a moment."],
  refused: [
    "That did not work",
    "The form was not complete, or it was used before. Nothing was bought.",
  ],
  "cross-site": [
    "That came from another site",
    "We take orders from our own pages only. Nothing was bought.",
  ],
  "not-found": [
    "There is nothing here",
    "The address may be misspelled. An order opens only in the browser in which it was bought.",
  ],
  failed: ["Something went wrong on our side", "Try again in a moment."],
};

/** When the purchase API gave a credit along with its failure. */
const TURN_KEPT =
  "Your turn is not lost: should it end before this works, you are given the next free one.";

const TROUBLE: ReadonlySet<Refusal> = new Set(["away", "order-away", "failed"]);

export function refusalPage(
  refusal: Refusal,
  {
    event,
    orderId,
    again,
    turnKept = false,
  }: {
    event: string;
    orderId?: string | undefined;
    again?: BuyForm | undefined;
    turnKept?: boolean;
  },
): Html {
  const [heading, say] = REFUSALS[refusal];
  const text = turnKept ? `${say} ${TURN_KEPT}` : say;
  const tone = TROUBLE.has(refusal) ? "trouble" : "calm";
  if (again !== undefined) return notice({ heading, text, tone, action: againForm(event, again) });
  const action =
    orderId === undefined
      ? linkButton(eventPath(event), "To the event")
      : linkButton(orderPath(orderId), "Show my order");
  return notice({ heading, text, tone, action });
}

export function refusalHeading(refusal: Refusal): string {
  return REFUSALS[refusal][0];
}

/** The same key and the same quantity: the purchase API gives the answer that was lost. */
function againForm(event: string, { key, quantity }: BuyForm): Html {
  return html`<form method="post" action="${eventPath(event)}/buy">
    <input type="hidden" name="key" value="${key}" />
    <input type="hidden" name="quantity" value="${quantity}" />
    <button class="button" type="submit">Try again</button>
  </form>`;
}

function facts(): Html {
  return html`<dl class="facts">
    <div>
      <dt>When</dt>
      <dd>${SHOW.when}</dd>
    </div>
    <div>
      <dt>Where</dt>
      <dd>${SHOW.where}</dd>
    </div>
  </dl>`;
}

function stockText(stock: StockView | "away" | undefined): string {
  if (stock === "away") return "Seats left: not known right now";
  if (stock === undefined) return "Not on sale yet";
  if (!stock.available) return "Sold out";
  if (stock.remaining === undefined) return "Seats available";
  return stock.remaining === 1 ? "1 seat left" : `${stock.remaining} seats left`;
}

function eventPath(event: string): string {
  return `/events/${event}`;
}

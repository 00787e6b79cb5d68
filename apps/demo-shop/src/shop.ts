/** The demo shop: server-rendered, no script, the origin that the waiting room protects. */
import { createHash } from "node:crypto";
import { ADMISSION_HEADER, VISITOR_HEADER } from "@vestibule/contracts/names";
import type { Randomness } from "@vestibule/kernel/randomness";
import { createApp, type ServiceApp, type ServiceContext } from "@vestibule/service/app";
import type { Log } from "@vestibule/service/log";
import { getCookie } from "hono/cookie";
import { FORM_BYTES_MAX, readBuyForm } from "./buy-form.ts";
import {
  buyerName,
  creditCookie,
  lastOrderName,
  ORDER_ID,
  orderCookies,
  orderPath,
} from "./order-cookies.ts";
import { type Html, page } from "./pages/layout.ts";
import {
  eventPage,
  homePage,
  orderPage,
  type Refusal,
  refusalHeading,
  refusalPage,
} from "./pages/shop-pages.ts";
import type { BuyOutcome, Pass, PurchaseClient } from "./purchase-client.ts";
import { isSameSite } from "./same-site.ts";
import { ICON, STYLES } from "./styles.ts";

export interface ShopDependencies {
  readonly event: string;
  readonly purchase: PurchaseClient;
  readonly randomness: Randomness;
  readonly log: Log;
}

const STYLES_PATH = `/assets/shop-${createHash("sha256").update(STYLES).digest("hex").slice(0, 12)}.css`;
const KEY_BYTES = 16;
const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

export function createShop({ event, purchase, randomness, log }: ShopDependencies): ServiceApp {
  const app = createApp({ log, checks: {} });
  const eventPath = `/events/${event}`;

  const orderIdOf = (context: ServiceContext): string | undefined => {
    const value = getCookie(context, lastOrderName(event, isHttps(context)));
    return value !== undefined && ORDER_ID.test(value) ? value : undefined;
  };
  const refuse = (
    context: ServiceContext,
    status: number,
    refusal: Refusal,
    more: Omit<Parameters<typeof refusalPage>[1], "event"> = {},
  ): Promise<Response> =>
    render(context, status, {
      title: refusalHeading(refusal),
      body: refusalPage(refusal, { event, ...more }),
    });

  /** The order that this purchase made, or an earlier one with the same admission whose answer was lost. */
  const boughtBy = async ({ visitor }: Pass, outcome: BuyOutcome) => {
    if (outcome.kind === "bought") return { visitor, ...outcome.order };
    if (outcome.orderId === undefined) return undefined;
    const order = await purchase.order(visitor, outcome.orderId);
    if (order === undefined) return undefined;
    return {
      visitor,
      orderId: outcome.orderId,
      number: order === "away" ? undefined : order.number,
    };
  };

  app.get(STYLES_PATH, (context) => asset(context, STYLES, "text/css; charset=utf-8"));
  app.get("/assets/shop.svg", (context) => asset(context, ICON, "image/svg+xml"));

  app.get("/", async (context) =>
    render(context, 200, {
      title: "Lantern Hall",
      body: homePage(event, await purchase.stock(), orderIdOf(context)),
      cache: orderIdOf(context) === undefined ? "no-cache" : "no-store",
    }),
  );

  app.get(eventPath, async (context) =>
    render(context, 200, {
      title: "Lantern Nights",
      body: eventPage({
        event,
        stock: await purchase.stock(),
        admitted: passOf(context) !== undefined,
        key: Buffer.from(randomness.bytes(KEY_BYTES)).toString("base64url"),
        orderId: orderIdOf(context),
      }),
    }),
  );

  app.post(`${eventPath}/buy`, async (context) => {
    if (!isSameSite(siteOf(context))) return refuse(context, 403, "cross-site");
    const form = readBuyForm(await boundedText(context.req.raw));
    if (form === undefined) return refuse(context, 400, "refused");
    const pass = passOf(context);
    if (pass === undefined) return refuse(context, 403, "not-admitted");
    const https = isHttps(context);
    const outcome = await purchase.buy({ pass, ...form });
    // The waiting room's page finds it there when the turn is over; once something is bought it is of no use.
    const isDone = outcome.kind === "bought" || outcome.kind === "already-spent";
    const credit = outcome.kind === "bought" ? undefined : outcome.credit;
    if (isDone || credit !== undefined) {
      context.header("Set-Cookie", creditCookie(event, { credit, https }), { append: true });
    }
    const bought = await boughtBy(pass, outcome);
    for (const cookie of bought === undefined ? [] : orderCookies(event, { ...bought, https })) {
      context.header("Set-Cookie", cookie, { append: true });
    }
    if (outcome.kind !== "bought") {
      const [status, refusal] = REFUSED[outcome.kind];
      const retriable = refusal === "away" || refusal === "paused";
      const known = bought?.orderId ?? orderIdOf(context);
      const orderId = refusal === "already-bought" ? known : undefined;
      const turnKept = credit !== undefined;
      const again = retriable ? form : undefined;
      return refuse(context, status, refusal, { orderId, again, turnKept });
    }
    return context.body(null, 303, {
      Location: orderPath(outcome.order.orderId),
      "Cache-Control": "no-store",
    });
  });

  app.get("/orders/:orderId", async (context) => {
    // Below no protected path: the edge says nothing here, and what it would not say is not believed.
    const visitor = getCookie(context, buyerName(isHttps(context)));
    const orderId = context.req.param("orderId");
    if (visitor === undefined || !ORDER_ID.test(orderId)) return refuse(context, 404, "not-found");
    const order = await purchase.order(visitor, orderId);
    if (order === "away") return refuse(context, 503, "order-away");
    if (order === undefined) return refuse(context, 404, "not-found");
    return render(context, 200, { title: "Your order", body: orderPage(order) });
  });

  app.notFound((context) => refuse(context, 404, "not-found"));
  app.onError((error, context) => {
    log.error("page-failed", error, { path: context.req.path });
    return refuse(context, 500, "failed");
  });
  return app;
}

const REFUSED: Readonly<
  Record<Exclude<BuyOutcome["kind"], "bought">, readonly [status: number, refusal: Refusal]>
> = {
  "already-spent": [409, "already-bought"],
  "sold-out": [409, "sold-out"],
  "not-admitted": [403, "not-admitted"],
  held: [503, "paused"],
  refused: [400, "refused"],
  away: [503, "away"],
};

/** By what the edge says; the shop itself speaks http. */
function isHttps(context: ServiceContext): boolean {
  return context.req.header("X-Forwarded-Proto") === "https";
}

function passOf(context: ServiceContext): Pass | undefined {
  const admission = context.req.header(ADMISSION_HEADER);
  const visitor = context.req.header(VISITOR_HEADER);
  return admission === undefined || visitor === undefined ? undefined : { admission, visitor };
}

function siteOf(context: ServiceContext): Parameters<typeof isSameSite>[0] {
  return {
    secFetchSite: context.req.header("Sec-Fetch-Site"),
    origin: context.req.header("Origin"),
    host: context.req.header("X-Forwarded-Host") ?? context.req.header("Host"),
  };
}

/** The start of a body, one byte past the bound at most: whoever sends more gets no further. */
async function boundedText(request: Request): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of request.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > FORM_BYTES_MAX) break;
  }
  return text;
}

async function render(
  context: ServiceContext,
  status: number,
  { title, body, cache = "no-store" }: { title: string; body: Html; cache?: string },
): Promise<Response> {
  const text = String(await page({ title, body, styles: STYLES_PATH }));
  return context.body(text, status as 200, {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": cache,
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
  });
}

function asset(context: ServiceContext, text: string, type: string): Response {
  return context.body(text, 200, {
    "Content-Type": type,
    "Cache-Control": "public, max-age=86400",
    "X-Content-Type-Options": "nosniff",
  });
}

/**
 * The sale itself, through the admin APIs that an organizer uses: opened when there is none,
 * gone on with when there is, followed by the next one when it is over.
 */
import type { EventChange, EventSettings, Presence } from "@vestibule/contracts/event-settings";
import {
  CLAIM_WINDOW_SECONDS_DEFAULT,
  LAST_CALL_SECONDS_DEFAULT,
} from "@vestibule/contracts/limits";
import type { StockSettings } from "@vestibule/contracts/purchase-api";

import { StartFailure } from "./failure.ts";
import type { StoredSale } from "./home.ts";
import { type Http, type HttpAnswer, jsonOf } from "./http.ts";
import { DEFAULTS, type StartOptions } from "./options.ts";

export const SKU = "seat";
const SALE_DAYS = 30;
/** A no-show's slot goes to somebody else after this: visibly, within one look at the display. */
export const CLAIM_WINDOW_SECONDS = Math.min(60, CLAIM_WINDOW_SECONDS_DEFAULT);
const PER_PURCHASE_MAX = 4;
/** With a larger crowd there is no last call: this one machine would do nothing but look. */
const LAST_CALL_FANS_MAX = 1_000;

/** What the launcher reads of `GET {mint}/v1/admin/events/{event}`. */
export interface EventStatus {
  readonly state: string;
  /** People without a committed slot. */
  readonly waiting: number;
  /** People whose committed slot has not opened yet. */
  readonly upcoming: number;
  readonly claimed: number;
  readonly ratePerMinute: number;
  /** Of this moment: a plan may say another. */
  readonly rate: number;
  readonly lastCallSeconds?: number;
  readonly presence?: Presence;
  /** When an organizer declared it sold out: that is final, other than seats that ran out. */
  readonly soldoutAt?: number;
}

export interface StockStatus {
  readonly total: number;
  readonly sold: number;
}

/** Everything else is as the purchase API has it by default. */
type SomeStock = Partial<StockSettings> & Pick<StockSettings, "total">;

/** Admin calls of mint and purchase API, with the token of this data directory. */
export class Admin {
  readonly #http: Http;
  readonly #mintUrl: string;
  readonly #purchaseUrl: string;
  readonly #authorization: Readonly<Record<string, string>>;

  constructor(options: { http: Http; mintUrl: string; purchaseUrl: string; adminToken: string }) {
    this.#http = options.http;
    this.#mintUrl = options.mintUrl;
    this.#purchaseUrl = options.purchaseUrl;
    this.#authorization = { Authorization: `Bearer ${options.adminToken}` };
  }

  /** Undefined when there is no such event. */
  async event(event: string): Promise<EventStatus | undefined> {
    const answer = await this.#http.send({
      url: this.#eventUrl(event),
      headers: this.#authorization,
    });
    if (answer.status === 404) return undefined;
    return expect(answer, "read the sale") as EventStatus;
  }

  async createEvent(settings: Partial<EventSettings>): Promise<void> {
    const answer = await this.#http.send({
      method: "POST",
      url: `${this.#mintUrl}/v1/admin/events`,
      headers: this.#authorization,
      body: settings,
    });
    expect(answer, "open the sale");
  }

  async changeEvent(event: string, change: EventChange): Promise<void> {
    const url = this.#eventUrl(event);
    const now = await this.#http.send({ url, headers: this.#authorization });
    expect(now, "read the sale");
    const etag = now.headers.etag;
    const answer = await this.#http.send({
      method: "PATCH",
      url,
      headers: { ...this.#authorization, ...(etag === undefined ? {} : { "If-Match": etag }) },
      body: change,
    });
    expect(answer, "change the sale");
  }

  async stock(event: string): Promise<StockStatus | undefined> {
    const answer = await this.#http.send({
      url: this.#stockUrl(event),
      headers: this.#authorization,
    });
    if (answer.status === 404) return undefined;
    return expect(answer, "read the stock") as StockStatus;
  }

  async setStock(event: string, settings: SomeStock): Promise<void> {
    const answer = await this.#http.send({
      method: "PUT",
      url: this.#stockUrl(event),
      headers: this.#authorization,
      body: settings,
    });
    expect(answer, "set the stock");
  }

  #eventUrl(event: string): string {
    return `${this.#mintUrl}/v1/admin/events/${event}`;
  }

  #stockUrl(event: string): string {
    return `${this.#purchaseUrl}/v1/admin/events/${event}/stock/${SKU}`;
  }
}

export interface OpenSale {
  readonly sale: StoredSale;
  /** Lines for the reader: what was kept, and why. */
  readonly notes: readonly string[];
}

/** `demo`, then `demo-2`, `demo-3` … in one data directory. */
export function eventName(count: number): string {
  return count === 1 ? "demo" : `demo-${count}`;
}

/**
 * Makes sure that a sale runs.
 *
 * @param stored what the last start wrote; `portBase` is the one in use now.
 */
export async function openSale(given: {
  admin: Admin;
  options: StartOptions;
  stored: StoredSale | undefined;
  portBase: number;
  now: number;
}): Promise<OpenSale> {
  const { admin, options, stored, portBase, now } = given;
  const found = stored === undefined ? undefined : await admin.event(stored.event);
  const stock = stored === undefined ? undefined : await admin.stock(stored.event);
  // Seats that are only held may come back: such a sale is sold out for now, and not over.
  const over =
    found?.state === "ended" ||
    found?.soldoutAt !== undefined ||
    (stock !== undefined && stock.sold >= stock.total);
  if (stored !== undefined && found !== undefined && !over && stored.portBase === portBase) {
    return {
      sale: { ...stored, fans: options.fans ?? stored.fans ?? DEFAULTS.fans },
      notes: await goOn({ admin, options, stored, found, stock }),
    };
  }
  const count = stored === undefined ? 1 : found === undefined ? stored.count : stored.count + 1;
  // What was not given now is as it was before: the same words mean the same sale again.
  const sale: StoredSale = {
    event: eventName(count),
    count,
    portBase,
    lifetimeSeconds: options.lifetimeSeconds ?? stored?.lifetimeSeconds ?? DEFAULTS.lifetimeSeconds,
    horizonSeconds: options.horizonSeconds ?? stored?.horizonSeconds ?? DEFAULTS.horizonSeconds,
    fans: options.fans ?? stored?.fans ?? DEFAULTS.fans,
  };
  const seats = options.seats ?? stock?.total ?? DEFAULTS.seats;
  const rate = options.ratePerMinute ?? found?.ratePerMinute ?? DEFAULTS.ratePerMinute;
  const presence = options.presence ?? found?.presence ?? DEFAULTS.presence;
  if ((await admin.event(sale.event)) === undefined) {
    await admin.createEvent(settingsOf(sale, { ratePerMinute: rate, presence, now }));
  }
  await admin.setStock(sale.event, stockOf(seats));
  if (stored === undefined || found === undefined) return { sale, notes: [] };
  const why = over
    ? `The sale ${stored.event} is over`
    : `The sale ${stored.event} belongs to port ${stored.portBase}`;
  return {
    sale,
    notes: [
      `${why}: a new one, ${sale.event}, is open (--reset forgets the old ones)`,
      `It has ${[
        `${seats} seats`,
        `${rate} a minute`,
        `${sale.lifetimeSeconds} s to buy`,
        `turns fixed ${sale.horizonSeconds} s ahead`,
        `a crowd of ${sale.fans}`,
        `presence ${presence}`,
      ].join(", ")}: what you did not give is as in the sale before`,
    ],
  };
}

async function goOn(given: {
  admin: Admin;
  options: StartOptions;
  stored: StoredSale;
  found: EventStatus;
  stock: StockStatus | undefined;
}): Promise<readonly string[]> {
  const { admin, options, stored, found, stock } = given;
  const notes = [`Going on with the sale ${stored.event}: ${stock?.sold ?? 0} seats are sold`];
  const { ratePerMinute: rate, seats } = options;
  if (rate !== undefined && rate !== found.ratePerMinute) {
    await admin.changeEvent(stored.event, { ratePerMinute: rate });
    notes.push(`The rate is ${rate} a minute now; it was ${found.ratePerMinute}`);
  }
  const { presence } = options;
  if (presence !== undefined && presence !== (found.presence ?? DEFAULTS.presence)) {
    await admin.changeEvent(stored.event, { presence });
    notes.push(
      presence === "confirm"
        ? "Fans are asked whether they are there from now on"
        : "Fans go in by themselves from now on",
    );
  }
  if (stock === undefined) {
    await admin.setStock(stored.event, stockOf(seats ?? DEFAULTS.seats));
  } else if (seats !== undefined && seats !== stock.total) {
    if (seats > stock.sold) {
      await admin.setStock(stored.event, stockOf(seats));
      notes.push(`There are ${seats} seats now; there were ${stock.total}`);
    } else {
      notes.push(
        `--seats ${seats} is not possible: ${stock.sold} are sold. There are still ${stock.total}`,
      );
    }
  }
  const lastCallSeconds = lastCallSecondsWith(options.fans ?? stored.fans);
  if (options.fans !== undefined && lastCallSeconds !== found.lastCallSeconds) {
    await admin.changeEvent(stored.event, { lastCallSeconds });
  }
  const fixed = [
    ["--lifetime", options.lifetimeSeconds, stored.lifetimeSeconds],
    ["--horizon", options.horizonSeconds, stored.horizonSeconds],
  ] as const;
  for (const [name, wanted, has] of fixed) {
    if (wanted === undefined || wanted === has) continue;
    notes.push(`${name} stays ${has} while this sale runs; with --reset a new one has ${wanted}`);
  }
  if (found.state === "paused") {
    notes.push("The sale is paused: resume it through the admin API");
  }
  return notes;
}

/** What is not as it is when nobody says so. */
function settingsOf(
  sale: StoredSale,
  { ratePerMinute, presence, now }: { ratePerMinute: number; presence: Presence; now: number },
): Partial<EventSettings> {
  const { event, portBase } = sale;
  return {
    event,
    title: "Lantern Night: a demo sale",
    ratePerMinute,
    lifetimeSeconds: sale.lifetimeSeconds,
    claimWindowSeconds: Math.min(CLAIM_WINDOW_SECONDS, sale.lifetimeSeconds),
    horizonSeconds: sale.horizonSeconds,
    endsAt: now + SALE_DAYS * 86_400_000,
    hosts: [`localhost:${portBase}`, `127.0.0.1:${portBase}`, `[::1]:${portBase}`],
    // Exact, and below it: `/events/demo*` would take in the next sale, `/events/demo-2`.
    paths: [`/events/${event}`, `/events/${event}/*`],
    homePath: `/events/${event}`,
    lastCallSeconds: lastCallSecondsWith(sale.fans),
    presence,
  };
}

function lastCallSecondsWith(fans: number = DEFAULTS.fans): number {
  return fans > LAST_CALL_FANS_MAX ? 0 : LAST_CALL_SECONDS_DEFAULT;
}

function stockOf(total: number): SomeStock {
  return { total, perPurchaseMax: PER_PURCHASE_MAX, showRemaining: true };
}

/** @throws StartFailure with the problem's own words. */
function expect(answer: HttpAnswer, what: string): unknown {
  const body = jsonOf(answer);
  if (answer.status >= 200 && answer.status < 300) return body;
  const { title, detail } = (body ?? {}) as { title?: string; detail?: string };
  throw new StartFailure(
    `It was not possible to ${what}: ${answer.status} ${[title, detail].filter(Boolean).join(", ")}`,
  );
}

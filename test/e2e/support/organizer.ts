/** What an organizer does to one event, through the admin APIs. */
import type { EventChange, EventSettings } from "@vestibule/contracts/event-settings";

import type { Ready } from "../start-system.ts";
import { type Answer, send } from "./app.ts";

/** What the tests read of `GET {mint}/v1/admin/events/{event}`. */
export interface EventStatus extends EventSettings {
  readonly state: string;
  readonly issued: number;
  readonly highestNumber: number;
  readonly waiting: number;
  readonly upcoming: number;
  readonly committed: number;
  readonly serving: number;
  readonly claimed: number;
  readonly lapsed: number;
  readonly heldSince?: number;
  readonly lastCall?: { readonly from: number; readonly until: number };
  readonly supplyLeft?: number;
}

export class Organizer {
  readonly #ready: Ready;
  readonly #event: string;

  constructor(ready: Ready, event: string) {
    this.#ready = ready;
    this.#event = event;
  }

  async status(): Promise<EventStatus> {
    return (await this.#ask<EventStatus>("GET", "")).body;
  }

  async change(change: EventChange): Promise<void> {
    const now = await this.#ask("GET", "");
    await this.#ask("PATCH", "", change, { "If-Match": now.headers.get("ETag") ?? "" });
  }

  async hold(scope: "entries" | "all" = "entries", reason?: string): Promise<void> {
    await this.#ask("POST", "/hold", { scope, ...(reason === undefined ? {} : { reason }) });
  }

  async resume(): Promise<void> {
    await this.#ask("POST", "/resume", {});
  }

  async soldout(): Promise<void> {
    await this.#ask("POST", "/soldout", {});
  }

  async end(): Promise<void> {
    await this.#ask("POST", "/end", {});
  }

  async sold(): Promise<number> {
    const { purchase, sku } = this.#ready;
    const { status, body } = await send<{ sold: number }>(
      `${purchase}/v1/admin/events/${this.#event}/stock/${sku}`,
      { headers: this.#authorization },
    );
    if (status !== 200) throw new Error(`stock: ${status}`);
    return body.sold;
  }

  async setStock(total: number): Promise<void> {
    const { purchase, sku } = this.#ready;
    const url = `${purchase}/v1/admin/events/${this.#event}/stock/${sku}`;
    const headers = this.#authorization;
    const { status, text } = await send(url, { method: "PUT", headers, json: { total } });
    if (status > 299) throw new Error(`stock: ${status} ${text}`);
  }

  get #authorization(): Record<string, string> {
    return { Authorization: `Bearer ${this.#ready.adminToken}` };
  }

  async #ask<Body>(
    method: string,
    path: string,
    json?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<Body>> {
    const url = `${this.#ready.mint}/v1/admin/events/${this.#event}${path}`;
    const answer = await send<Body>(url, {
      method,
      headers: { ...this.#authorization, ...headers },
      ...(json === undefined ? {} : { json }),
    });
    if (answer.status > 299) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer;
  }
}

/** One location of the deployed Worker between a shop and a shared cache, and visitors with browsers' habits in front. */
import { once } from "node:events";
import { type IncomingHttpHeaders, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

import { type System, freePortBase, openEvent, startSystem } from "../start-system.ts";
import { App } from "../support/app.ts";
import { type BareEdge, startBareEdge } from "../support/bare-edge.ts";
import { Organizer } from "../support/organizer.ts";
import { type SharedCache, startSharedCache } from "../support/shared-cache.ts";

/** `cached`: whoever claims is in at once. `held`: nobody's turn comes. */
const EVENTS = { cached: { ratePerMinute: 60_000 }, held: { ratePerMinute: 1 } } as const;
export type EventName = keyof typeof EVENTS;

export interface StrangersWorld {
  readonly system: System;
  readonly edge: BareEdge;
  readonly cache: SharedCache;
  /** Of the cache: what a browser sees as the shop. */
  readonly site: string;
  /** Requests that reached the shop: `GET /path`. */
  readonly shopped: readonly string[];
  stop(): Promise<void>;
}

export async function startWorld(): Promise<StrangersWorld> {
  const system = await startSystem();
  const shopped: string[] = [];
  const shop = createServer((asked, answer) => {
    shopped.push(`${asked.method} ${asked.url}`);
    if (asked.url?.endsWith(".png") !== true) {
      const whose = String(asked.headers["vestibule-visitor"]);
      answer.writeHead(200, { "Content-Type": "text/html", "Cache-Control": "private" });
      answer.end(`<h1>the basket of ${whose}</h1>`);
    } else if (asked.headers["if-none-match"] === '"seats"') {
      answer.writeHead(304, { ETag: '"seats"', "Cache-Control": "private, max-age=60" }).end();
    } else {
      answer.writeHead(200, { ETag: '"seats"', "Cache-Control": "private, max-age=60" });
      answer.end(`seats of ${String(asked.headers["vestibule-visitor"])}`);
    }
  });
  shop.listen(0, "127.0.0.1");
  await once(shop, "listening");
  const port = await freePortBase();
  const cache = await startSharedCache(port);
  const site = `http://127.0.0.1:${cache.port}`;
  for (const [event, settings] of Object.entries(EVENTS)) {
    const hosts = [`127.0.0.1:${cache.port}`, `127.0.0.1:${port}`];
    await openEvent(system.ready, { event, hosts, lifetimeSeconds: 600, ...settings });
  }
  const markup = (part: string) => `</title></script><img src=x onerror=pwned("${part}")>`;
  await openEvent(system.ready, {
    ...{ event: "marked", title: markup("title"), notice: markup("notice"), ratePerMinute: 1 },
    hosts: [`127.0.0.1:${cache.port}`],
    looks: { texts: { en: { under: markup("words") } } },
  });
  await new Organizer(system.ready, "marked").hold("entries", markup("reason"));
  const edge = await startBareEdge(system, {
    port,
    vars: {
      ORIGIN_URL: `http://127.0.0.1:${(shop.address() as AddressInfo).port}`,
      PURCHASE_URL: system.ready.purchase.replace("localhost", "127.0.0.1"),
    },
  });
  for (const event of [...Object.keys(EVENTS), "marked"]) await new App(site, event).known();
  return {
    ...{ system, edge, cache, site, shopped },
    stop: async () => {
      await edge.stop();
      await cache.close();
      shop.close();
      shop.closeAllConnections();
      await system.stop();
    },
  };
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly cookies: readonly string[];
  readonly text: string;
}

export interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** As it stands: no header but these, and `Host`. */
export function askPlainly(
  port: number,
  { method = "GET", path, headers = {}, body = "" }: Asked,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        ...{ host: "127.0.0.1", port, method, path },
        headers: {
          Host: `127.0.0.1:${port}`,
          ...(body === "" ? {} : { "Content-Length": String(Buffer.byteLength(body)) }),
          ...headers,
        },
      },
      (reply) => {
        let text = "";
        reply.setEncoding("utf8").on("data", (piece: string) => (text += piece));
        reply.on("error", reject).on("end", () => {
          const { statusCode: status = 0, headers: got } = reply;
          resolve({ status, headers: got, cookies: got["set-cookie"] ?? [], text });
        });
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

/** A browser: it keeps cookies, and says where its requests come from. */
export class Visitor {
  readonly #port: number;
  readonly jar = new Map<string, string>();

  constructor(port: number) {
    this.#port = port;
  }

  /** What only this visitor may see. */
  get secrets(): readonly string[] {
    return [...this.jar.values()].filter((value) => value.length > 20);
  }

  get cookie(): string {
    return [...this.jar].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  async ask({ headers = {}, ...asked }: Asked): Promise<Reply> {
    const reply = await askPlainly(this.#port, {
      ...asked,
      headers: {
        Accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8",
        "Sec-Fetch-Site": "same-origin",
        ...(this.jar.size === 0 ? {} : { Cookie: this.cookie }),
        ...headers,
      },
    });
    for (const cookie of reply.cookies) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      this.jar.set(name, value);
    }
    return reply;
  }

  /** By the page's script. */
  call(event: EventName, verb: string, method = "POST"): Promise<Reply> {
    return this.ask({
      method,
      path: `/_vestibule/events/${event}/${verb}`,
      headers: {
        Accept: "application/json",
        ...(method === "POST" ? { Origin: `http://127.0.0.1:${this.#port}` } : {}),
        ...(method === "POST" ? { "Content-Type": "application/json" } : {}),
      },
      ...(method === "POST" ? { body: "{}" } : {}),
    });
  }
}

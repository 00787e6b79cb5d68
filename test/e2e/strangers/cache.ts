/** EP-10: nothing of one visitor reaches another through a cache in front, and nobody can put anything into it. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, onTestFinished, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { startSharedCache } from "../support/shared-cache.ts";
import { type Reply, type StrangersWorld, Visitor, askPlainly } from "./world.ts";

const DRIP = "/_vestibule/events/cached/drip";
const SETTINGS = "/_vestibule/events/cached";
const PAGE = "/events/held";
const IMAGE = "/events/cached/seats.png";

export function cache(of: () => StrangersWorld): void {
  test("two visitors ask for the same through one cache: no cookie and no byte of one reaches the other, and what is for all is shared", async () => {
    const { cache: between } = of();
    const [one, other] = [new Visitor(between.port), new Visitor(between.port)];
    const seen = new Map<Visitor, Reply[]>([
      [one, []],
      [other, []],
    ]);
    /** Each asks twice, by turns. */
    const both = async (ask: (visitor: Visitor) => Promise<Reply>): Promise<readonly Reply[]> => {
      const replies: Reply[] = [];
      for (const visitor of [one, other, one, other]) {
        const reply = await ask(visitor);
        seen.get(visitor)?.push(reply);
        replies.push(reply);
      }
      return replies;
    };
    const statuses = (replies: readonly Reply[]) => replies.map(({ status }) => status);

    await both((visitor) => visitor.ask({ path: PAGE }));
    await both((visitor) => visitor.call("held", "tickets"));
    await both((visitor) => visitor.ask({ path: PAGE }));
    const places = await both((visitor) => visitor.call("held", "me", "GET"));
    expect(new Set(places.map(({ text }) => text)).size).toBe(2);
    await both((visitor) => visitor.ask({ path: "/events/cached" }));
    await both((visitor) => visitor.call("cached", "tickets"));
    for (const visitor of [one, other]) {
      await eventually("a claim", async () => {
        const reply = await visitor.call("cached", "admissions");
        seen.get(visitor)?.push(reply);
        return reply.status === 201;
      });
      await eventually("the shop", async () => {
        const reply = await visitor.ask({ path: "/events/cached" });
        return reply.text.includes("basket");
      });
    }
    expect(statuses(await both((visitor) => visitor.ask({ path: "/events/cached" })))).toEqual(
      Array.from({ length: 4 }, () => 200),
    );
    const images = await both((visitor) => visitor.ask({ path: IMAGE }));
    expect(new Set(images.map(({ text }) => text)).size).toBe(2);
    const known = { path: IMAGE, headers: { "If-None-Match": '"seats"' } };
    expect(statuses(await both((visitor) => visitor.ask(known)))).toEqual([304, 304, 304, 304]);
    const language = (visitor: Visitor) =>
      visitor.ask({
        method: "POST",
        path: "/_vestibule/language",
        headers: {
          Origin: of().site,
          "Content-Type": "application/x-www-form-urlencoded",
        },
        body: `language=${visitor === one ? "Deutsch" : encodeURIComponent("Français")}&return=${PAGE}`,
      });
    await both(language);
    const pages = await both((visitor) => visitor.ask({ path: PAGE }));
    expect(pages.map(({ headers }) => headers["content-language"])).toEqual([
      ...["de", "fr", "de", "fr"],
    ]);
    const stranger = await askPlainly(between.port, { path: IMAGE });
    expect(stranger.text).not.toContain("seats of");
    const before = between.hits.length;
    await both((visitor) => visitor.ask({ path: DRIP, headers: { Accept: "*/*" } }));
    const settings = await both((visitor) => visitor.ask({ path: SETTINGS }));
    expect(new Set(settings.map(({ text }) => text)).size).toBe(1);

    for (const [visitor, stolenFrom] of [
      [one, other],
      [other, one],
    ] as const) {
      expect(stolenFrom.secrets.length).toBeGreaterThanOrEqual(3);
      const all = JSON.stringify(seen.get(visitor));
      expect(stolenFrom.secrets.filter((secret) => all.includes(secret))).toEqual([]);
    }
    // Whatever sets a cookie says itself that it is nobody else's.
    const setting = [...seen.values()].flat().filter(({ cookies }) => cookies.length > 0);
    expect(setting.length).toBeGreaterThan(6);
    for (const { headers } of setting) expect(headers["cache-control"]).toBe("private, no-store");
    // And what is for all came from the cache: the drip, and the settings.
    for (const path of [DRIP, SETTINGS]) {
      expect(between.hits.slice(before).some((hit) => hit.endsWith(path))).toBe(true);
    }
    const isForAll = (hit: string) => hit.endsWith("/drip") || hit.endsWith(SETTINGS);
    expect(between.hits.filter((hit) => !isForAll(hit))).toEqual([]);
  });

  test("canary: behind a shop that lets its pages be shared, the cache gives one visitor the other's", async () => {
    const careless = createServer((asked, answer) => {
      answer.writeHead(200, { "Cache-Control": "public, max-age=60" });
      answer.end(`the basket of ${asked.headers.cookie}`);
    });
    await once(careless.listen(0, "127.0.0.1"), "listening");
    const between = await startSharedCache((careless.address() as AddressInfo).port);
    onTestFinished(async () => {
      await between.close();
      careless.close();
    });
    await askPlainly(between.port, { path: "/basket", headers: { Cookie: "one" } });
    const stolen = await askPlainly(between.port, {
      path: "/basket",
      headers: { Cookie: "other" },
    });
    expect(stolen.text).toBe("the basket of one");
  });
}

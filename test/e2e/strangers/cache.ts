/** EP-10: nothing of one visitor reaches another through a cache in front, and nobody can put anything into it. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, onTestFinished, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { startSharedCache } from "../support/shared-cache.ts";
import { type Asked, type Reply, type StrangersWorld, Visitor, askPlainly } from "./world.ts";

const DRIP = "/_vestibule/events/cached/drip";
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
        body: `language=${visitor === one ? "de" : "fr"}&return=${PAGE}`,
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
    // And the drip, which is for all, came from the cache.
    expect(between.hits.slice(before).length).toBeGreaterThanOrEqual(1);
    expect(between.hits.filter((hit) => !hit.endsWith(DRIP) && !hit.endsWith("/drip"))).toEqual([]);
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
    const stolen = await askPlainly(between.port, { path: "/basket", headers: { Cookie: "other" } });
    expect(stolen.text).toBe("the basket of one");
  });

  test("whatever somebody asks before, the next one gets what they would have got", async () => {
    const { cache: between } = of();
    const plain = (path: string) =>
      askPlainly(between.port, { path, headers: { Accept: "text/html,*/*;q=0.8" } });
    const told = ({ status, headers, text }: Reply) => ({
      status,
      type: headers["content-type"],
      length: text.length,
      origin: headers["access-control-allow-origin"],
      language: headers["content-language"],
      isWhole: /<\/html>\s*$/.test(text) || text.endsWith("}"),
    });
    const wrong: unknown[] = [];
    for (const path of [DRIP, PAGE, "/events/cached"]) {
      for (const poison of poisons(path, between.port)) {
        await askPlainly(between.port, poison).catch(() => undefined);
        const reply = await plain(path);
        const { status, type, origin, language, isWhole } = told(reply);
        const good =
          status === 200 &&
          (type === "application/json" || type === "text/html; charset=utf-8") &&
          origin === undefined &&
          (path === DRIP || language === "en") &&
          isWhole &&
          !/evil/i.test(JSON.stringify(reply));
        if (!good) wrong.push({ path, poison, got: told(reply) });
      }
    }
    expect(wrong).toEqual([]);
  });
}

/** Ways in which caches elsewhere were made to keep what nobody else should get. */
function poisons(path: string, port: number): readonly Asked[] {
  const header = (name: string, value: string): Asked => ({ path, headers: { [name]: value } });
  const at = (other: string): Asked => ({ path: other });
  const method = (name: string, body?: string): Asked => ({
    ...{ path, method: name, headers: { Origin: "http://evil.example" } },
    ...(body === undefined ? {} : { body }),
  });
  return [
    header("X-Forwarded-Host", "evil.example"),
    header("X-Host", "evil.example"),
    header("Forwarded", "host=evil.example;proto=gopher"),
    header("X-Forwarded-Proto", "evil"),
    header("X-Forwarded-Prefix", "/evil"),
    header("X-Original-URL", "/evil"),
    header("X-Rewrite-URL", "/evil"),
    header("X-HTTP-Method-Override", "DELETE"),
    header("Vestibule-Mode", "token"),
    header("Vestibule-Visitor", "evil"),
    header("Origin", "http://evil.example"),
    header("Origin", `http://127.0.0.1:${port}`),
    header("Accept", "application/json"),
    header("Accept", "text/evil"),
    header("Accept-Language", "ar"),
    header("Accept-Encoding", "evil"),
    header("Cookie", "vst-visitor-held=evil; vst-language=ar; evil=1"),
    header("Authorization", "Bearer evil"),
    header("Range", "bytes=0-3"),
    header("If-None-Match", "*"),
    header("If-None-Match", '"evil"'),
    header("If-Modified-Since", new Date(0).toUTCString()),
    header("Cache-Control", "only-if-cached"),
    header("Host", `127.0.0.1:${port}.`),
    header("Host", `evil.example:${port}`),
    header("Host", `127.0.0.1:${port}:evil`),
    { path, headers: { "Content-Type": "application/json" }, body: '{"callback":"evil"}' },
    ...["HEAD", "OPTIONS", "PROPFIND", "DELETE", "PURGE"].map((name) => method(name)),
    method("POST", "evil=1"),
    ...["?a=1&b=2", "?b=2&a=1", "?callback=evil", "?", "/", "/.", "/..%2f", ";evil", "%00"].map(
      (tail) => at(path + tail),
    ),
    ...[`/${path}`, path.toUpperCase(), path.replace("/", "/%2e/"), `/evil/..${path}`].map(at),
    at(`http://evil.example${path}`),
  ];
}

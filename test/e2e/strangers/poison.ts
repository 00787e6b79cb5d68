/** Nobody can put anything into a cache in front that another gets. */
import { expect, test } from "vitest";

import { type Asked, type Reply, type StrangersWorld, askPlainly } from "./world.ts";

const DRIP = "/_vestibule/events/cached/drip";
const PAGE = "/events/held";

export function poison(of: () => StrangersWorld): void {
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
      isWhole: /<\/script>\s*$/.test(text) || text.endsWith("}"),
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

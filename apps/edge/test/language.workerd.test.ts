/** The page in the language of its reader, and the switch. */
import { LANGUAGES } from "@vestibule/contracts/languages";
import { describe, expect, test } from "vitest";
import { LANGUAGE_TAGS } from "../src/page/languages.ts";
import { EVENT, HOST, OWN_PAGE, PAGE_VIEW, VISITOR_A, cookies, createWorld } from "./world.ts";

type World = Awaited<ReturnType<typeof createWorld>>;
const FORM = { "Content-Type": "application/x-www-form-urlencoded", ...OWN_PAGE };

async function pageIn(
  world: World,
  header: string | undefined,
  extra: Record<string, string> = {},
): Promise<{ lang: string; headline: string; html: string; headers: Headers }> {
  const asked = header === undefined ? {} : { "Accept-Language": header };
  const response = await world.get("/events/demo", {
    headers: { ...PAGE_VIEW, ...asked, ...extra },
  });
  const html = await response.text();
  const lang = /<html lang="([^"]*)"/.exec(html)?.[1] ?? "";
  const headline = /id="headline">([^<]*)</.exec(html)?.[1] ?? "";
  return { lang, headline, html, headers: response.headers };
}

const choose = (world: World, body: string, headers: Record<string, string> = FORM) =>
  world.post("/_vestibule/language", { headers, body });

test("the languages that an organizer can name are those that there are texts for", () => {
  expect([...LANGUAGE_TAGS].sort()).toEqual([...LANGUAGES].sort());
});

describe("what the browser says", () => {
  test("one page for each language, and answers that say which", async () => {
    const world = await createWorld();
    for (const tag of LANGUAGES) {
      const { lang, html, headers } = await pageIn(world, `${tag}-XX, sv;q=0.5`);
      expect(lang).toBe(tag);
      expect(headers.get("content-language")).toBe(tag);
      expect(headers.get("vary")).toContain("Accept-Language");
      const direction = tag === "ar" || tag === "he" ? "rtl" : "ltr";
      expect(html).toContain(`<html lang="${tag}" dir="${direction}">`);
      expect(html).toContain(" selected>");
    }
  });
  test("people without a place who speak different languages do not get each other's page", async () => {
    const world = await createWorld();
    const german = await pageIn(world, "de");
    expect((await pageIn(world, "fr")).headline).not.toBe(german.headline);
    expect((await pageIn(world, "de")).headline).toBe(german.headline);
    expect((await pageIn(world, undefined)).headline).toBe("Getting your place in line");
  });
  test("none of ours: the event's own language, and English where that is none of ours either", async () => {
    const world = await createWorld();
    world.manifest = [{ ...EVENT, language: "pl" }];
    expect((await pageIn(world, "sv")).lang).toBe("pl");
    expect((await pageIn(world, "sv, de;q=0.1")).lang).toBe("de");
    const newer = await createWorld();
    newer.manifest = [{ ...EVENT, language: "constructor" }];
    expect((await pageIn(newer, "sv")).lang).toBe("en");
  });
  test("figures as they are written there, by the page and by its script", async () => {
    const world = await createWorld();
    const Cookie = cookies({ visitor: VISITOR_A, ticket: await world.ticket(1_240_833) });
    const number = async (header: string) =>
      /id="number"[^>]*>([^<]*)</.exec((await pageIn(world, header, { Cookie })).html)?.[1];
    expect(await number("de")).toBe("1.240.833");
    expect(await number("hi")).toBe("12,40,833");
    expect(await number("ar-EG")).toBe("١٬٢٤٠٬٨٣٣");
    expect((await pageIn(world, "ar-EG", { Cookie })).html).toContain('"locale":"ar-EG"');
  });
});

describe("the switch", () => {
  test("a form of all languages in their own names, back to this very page", async () => {
    const world = await createWorld();
    const { html } = await pageIn(world, "de");
    const form = /<form[^>]*id="speak">.*?<\/form>/s.exec(html)?.[0] ?? "";
    expect(form).toContain('method="post" action="/_vestibule/language"');
    expect(form).toContain('name="return" value="/events/demo"');
    expect(form.match(/<option /g)).toHaveLength(LANGUAGES.length);
    expect(form).toContain("<option lang=de selected>Deutsch");
    expect(form).toContain("<option lang=ar>العربية");
    expect(form).toContain('<label for="language">Sprache</label>');
  });
  test("a choice is kept in a cookie, outweighs the browser, and costs no place", async () => {
    const world = await createWorld();
    const ticket = await world.ticket(60);
    const answer = await choose(world, "language=日本語&return=%2Fevents%2Fdemo%3Fa%3D1");
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toBe("/events/demo?a=1");
    expect(answer.headers.get("cache-control")).toBe("private, no-store");
    const [cookie = ""] = answer.headers.getSetCookie();
    expect(cookie).toBe(
      "__Host-vst-language=ja; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax; Secure",
    );
    const Cookie = `${cookies({ visitor: VISITOR_A, ticket })}; ${cookie.split(";")[0]}`;
    const { lang, html } = await pageIn(world, "de", { Cookie });
    expect(lang).toBe("ja");
    expect(html).toContain('"number":60');
    expect(world.grants()).toEqual([]);
  });
  test("a cookie of another value is none", async () => {
    const world = await createWorld();
    for (const value of ["xx", "constructor", "", "de,fr", "%64%65"]) {
      const Cookie = `__Host-vst-language=${value}`;
      expect((await pageIn(world, "fr", { Cookie })).lang).toBe("fr");
    }
  });
  test("no other site chooses, no address of another is gone back to, and no other language kept", async () => {
    const world = await createWorld();
    const foreign = { ...FORM, Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" };
    expect((await choose(world, "language=de", foreign)).status).toBe(403);
    for (const path of ["https://evil.example/", "//evil.example", "/\\evil.example", "x", ""]) {
      const answer = await choose(world, `language=Deutsch&return=${encodeURIComponent(path)}`);
      expect([path, answer.status, answer.headers.get("location")]).toEqual([path, 303, "/"]);
    }
    for (const body of ["language=de", "language=__proto__", "", "language=Deutsch%0d%0aX: y"]) {
      const answer = await choose(world, body);
      expect([body, answer.status]).toEqual([body, 400]);
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    const json = { ...OWN_PAGE, "Content-Type": "application/json" };
    expect((await choose(world, '{"language":"de"}', json)).status).toBe(400);
    expect((await choose(world, `language=Deutsch&x=${"x".repeat(100_000)}`)).status).toBe(413);
    expect((await world.get("/_vestibule/language")).status).toBe(405);
  });
  test("the shop's own server does not hear of it", async () => {
    const world = await createWorld();
    const Cookie = "a=1; __Host-vst-language=ja; vst-language=de; vst-languages=mine";
    await world.get("/elsewhere", { headers: { Cookie } });
    expect(world.toOrigin()[0]?.headers.get("cookie")).toBe("a=1; vst-languages=mine");
  });
});

test("without https, for development: the same, and the cookie is not Secure", async () => {
  const world = await createWorld();
  const origin = HOST.replace("https:", "http:");
  const answer = await world.edge.fetch(
    new Request(`${origin}/_vestibule/language`, {
      method: "POST",
      headers: { ...FORM, Origin: origin },
      body: "language=Deutsch",
    }),
    { waitUntil: () => undefined },
  );
  expect(answer.headers.getSetCookie()).toEqual([
    "vst-language=de; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax",
  ]);
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readCookie, setCookie, withoutOurCookies } from "../src/cookies.ts";
import { escape } from "../src/page/escape.ts";
import { jsonForHtml } from "../src/page/markup.ts";
import { prefersPage } from "../src/routing/accept.ts";
import { safeReturnPath } from "../src/routing/return-path.ts";

describe("HP-02: who gets a page and who gets JSON", () => {
  test.each([
    ["text/html", true],
    ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true],
    ["application/json;q=0, text/html", true],
    ["text/*", true],
    ["text/html;q=0.1, application/json;q=0.05", true],
    ["application/json", false],
    ["application/json, text/plain, */*", false],
    ["application/json;charset=utf-8", false],
    ["APPLICATION/JSON", false],
    ["*/*", false],
    ["", false],
    ["text/html;q=0", false],
    ["text/html;q=0.5, application/json", false],
    ["text/html;q=nonsense", false],
    ["application/*;q=0.2, text/html;q=0.1", false],
    ["application/*", false],
    ["application/*;q=0.2, application/xhtml+xml;q=0.3", true],
    [`${"x/y,".repeat(5_000)}text/html`, false],
  ])("%s", (accept, page) => {
    expect(prefersPage(accept)).toBe(page);
  });
  test("no Accept at all: JSON", () => {
    expect(prefersPage(null)).toBe(false);
  });
});

describe("EP-14: a return address stays with us", () => {
  const ORIGIN = "https://shop.example";
  test.each(["/events/demo", "/events/demo?a=b&c=%20d", "/", "/a//b", "/a:b@c"])(
    "%s is kept",
    (path) => {
      expect(safeReturnPath(path, ORIGIN)).toBe(path);
    },
  );
  test.each([
    "//evil.example",
    "/\\evil.example",
    "\\/evil.example",
    "http:evil.example",
    "https://evil.example/",
    "https://shop.example.evil.example/",
    "https://shop.example:8443/",
    "https://shop.example@evil.example/",
    "javascript:alert(1)",
    "/%09/evil.example",
    "/%2f/evil.example",
    "/%2Fevil.example",
    "/%5Cevil.example",
    "/%255Cevil.example",
    "/\t/evil.example",
    "\t//evil.example",
    "\n/events/demo",
    " /events/demo",
    "/events/demo\r\nSet-Cookie: a=b",
    "/.//evil.example",
    "/x/..//evil.example",
    "events/demo",
    "",
    "/_vestibule/events/demo/tickets",
    `/${"a".repeat(10_000)}`,
    "/\u0000",
    "/ünsafe",
  ])("%j falls back to the event's page", (path) => {
    expect(safeReturnPath(path, ORIGIN)).toBeUndefined();
  });
  test("whatever is kept has our origin, for a browser too", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii" }), (text) => {
        const kept = safeReturnPath(`/${text}`, ORIGIN);
        if (kept !== undefined) expect(new URL(kept, ORIGIN).origin).toBe(ORIGIN);
      }),
    );
  });
});

describe("cookies", () => {
  test("ours is found among the malformed ones of others", () => {
    const header = '=;;a; b="x;y; vst-ticket-demo2=no; xvst-ticket-demo=no;vst-ticket-demo=yes ; c';
    expect(readCookie(header, "vst-ticket-demo")).toBe("yes");
    expect(readCookie(header, "vst-visitor-demo")).toBeUndefined();
  });
  test("ours are taken out on the way to the origin, of every event; the others stay as they are", () => {
    const header = "a=1; __Host-vst-visitor-demo=x; b=2; vst-admission-other=y; c=vst-ticket-demo";
    expect(withoutOurCookies(header)).toBe("a=1; b=2; c=vst-ticket-demo");
    expect(withoutOurCookies("__Host-vst-ticket-demo=x")).toBeUndefined();
    expect(withoutOurCookies("a=1;b=2")).toBe("a=1;b=2");
  });
  test("a space starts no cookie: what stands in another's value is never ours", () => {
    const header = "q=red vst-visitor-demo=ATTACKER; vst-visitor-demo=mine";
    expect(readCookie(header, "vst-visitor-demo")).toBe("mine");
    expect(withoutOurCookies(header)).toBe("q=red vst-visitor-demo=ATTACKER");
    expect(readCookie("a=1;\t vst-visitor-demo=mine", "vst-visitor-demo")).toBe("mine");
    expect(readCookie("a=1;\u00a0vst-visitor-demo=mine", "vst-visitor-demo")).toBeUndefined();
  });
  test("the same cookie twice counts once; with two values it counts for nobody", () => {
    const read = (header: string) => readCookie(header, "vst-visitor-demo");
    expect(read("vst-visitor-demo=mine; a=1; vst-visitor-demo=mine")).toBe("mine");
    expect(read("vst-visitor-demo=mine; vst-visitor-demo=theirs")).toBeUndefined();
    expect(read("vst-visitor-demo=; vst-visitor-demo=mine")).toBeUndefined();
  });
  test("two Cookie headers, joined by the runtime: nobody is admitted by the second, and none of ours gets through", () => {
    const header = "a=1, vst-visitor-demo=x; b={2,3}, __Host-vst-ticket-demo=y, c=4";
    expect(readCookie(header, "vst-visitor-demo")).toBeUndefined();
    expect(withoutOurCookies(header)).toBe("a=1; b={2,3}, c=4");
    expect(withoutOurCookies("vst-ticket-demo=y, vst-visitor-demo=x")).toBeUndefined();
  });
  test("whatever is read as ours is taken out", () => {
    const piece = fc.constantFrom("vst-visitor-demo=", "x", ";", ",", " ", "\t", '"', "=", "a=1");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const header = pieces.join("");
        const rest = withoutOurCookies(header) ?? "";
        expect(readCookie(rest, "vst-visitor-demo")).toBeUndefined();
      }),
    );
  });
  test("EP-13: the longest cookie that we ever set stays below 4,096 bytes", () => {
    const value = "x".repeat(2_048);
    const event = "e".repeat(64);
    const text = setCookie("admission", { event, value, maxAgeSeconds: 1e9, https: true });
    expect(text.length).toBeLessThan(4_096);
    expect(text).toMatch(/^__Host-.*; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/);
  });
});

describe("AO-06: an organizer's text stays text", () => {
  const NASTY = `</script><img src=x onerror=alert(1)>"'&{{\u2028\u202e=cmd|' /C calc'!A0`;
  test("in markup and in data", () => {
    expect(escape(NASTY)).not.toMatch(/[<>"']/);
    expect(jsonForHtml({ title: NASTY })).not.toMatch(/[<>&\u2028]/);
    expect(JSON.parse(jsonForHtml({ title: NASTY }))).toEqual({ title: NASTY });
  });
});

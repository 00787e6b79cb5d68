/** What is fetched when a fan asks to be told of the turn. */
import { alertsScript, languageFiles } from "#page-assets";
import { expect, test } from "vitest";
import { OWN_PAGE, PAGE_VIEW, createWorld } from "./world.ts";

const PATH = "/_vestibule/alerts.js";

test("the same script for everybody, which caches may keep; no other site's page can read it", async () => {
  const world = await createWorld();
  for (const headers of [{}, OWN_PAGE, { Cookie: "a=b", Origin: "https://other.example" }]) {
    const response = await world.get(PATH, { headers });
    expect([response.status, await response.text()]).toEqual([200, alertsScript]);
    expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("public, max-age=60");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("server-timing")).toBe('vst;desc="alerts"');
    const told = ["access-control-allow-origin", "set-cookie", "vary"];
    expect(told.filter((name) => response.headers.has(name))).toEqual([]);
  }
});

test("HEAD has the head alone; no other method", async () => {
  const world = await createWorld();
  const head = await world.get(PATH, { method: "HEAD" });
  expect([head.status, head.headers.get("cache-control"), await head.text()]).toEqual([
    ...[200, "public, max-age=60", ""],
  ]);
  for (const method of ["POST", "PUT", "DELETE"]) {
    const refused = await world.get(PATH, { method });
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  }
});

test("the page's policy lets this very text run, which is not in the page", async () => {
  const world = await createWorld();
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(alertsScript));
  const source = `'sha256-${btoa(String.fromCharCode(...new Uint8Array(hash)))}'`;
  const page = await world.get("/events/demo", { headers: PAGE_VIEW });
  const policy = page.headers.get("content-security-policy") ?? "";
  expect(/script-src ([^;]*)/.exec(policy)?.[1]?.split(" ")[1]).toBe(source);
  const html = await page.text();
  expect(html).not.toContain("createOscillator");
  // Its texts weigh nothing either.
  expect(html).not.toContain('"both"');
  for (const tag of Object.keys(languageFiles)) expect(alertsScript).toContain(`${tag}:`);
});

/** An event's own looks at a location: what of them it takes, and the policy that lets exactly that happen. */
import { expect, test } from "vitest";
import { EVENT, PAGE_VIEW, createWorld } from "./world.ts";

const LOOKS = {
  logo: 'data:image/svg+xml,<svg%20xmlns="http://www.w3.org/2000/svg"%20viewBox="0%200%209%209"><path%20d="M0%200h9v9"/></svg>',
  logoAlt: "The <Hall>",
  colours: { light: { paper: "#fbf6ee", ink: "#2b2118", accent: "#a8442c" } },
  texts: { en: { under: "12 May" }, de: { under: "12. Mai" } },
  template: "<p>{{title}}</p>{{room}}<p>Doors open at 7</p>",
};

async function pageOf(event: object, headers: Record<string, string> = {}) {
  const world = await createWorld();
  world.manifest = [{ ...EVENT, ...event }];
  const response = await world.get("/events/demo", { headers: { ...PAGE_VIEW, ...headers } });
  expect(response.status).toBe(200);
  const html = await response.text();
  return { html, policy: response.headers.get("content-security-policy") ?? "" };
}

const sourceOf = async (text: string) => {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `'sha256-${btoa(String.fromCharCode(...new Uint8Array(hash)))}'`;
};

test("a page in an organizer's looks has them, in the reader's language, and its policy names its styles", async () => {
  const { html, policy } = await pageOf({ looks: LOOKS });
  expect(html).toContain("--paper:#fbf6ee");
  expect(html).toContain("12 May");
  expect(html).toContain("Doors open at 7");
  // Placed by the template, which says nothing of a logo.
  expect(html).not.toContain("<img");
  const styles = [...html.matchAll(/<style>(.*?)<\/style>/gs)].map(([, css = ""]) => css);
  expect(styles).toHaveLength(2);
  for (const css of styles) expect(policy).toContain(await sourceOf(css));
  expect(policy).toContain("img-src data:");
  const german = await pageOf({ looks: LOOKS }, { "Accept-Language": "de" });
  expect(german.html).toContain("12. Mai");
  expect(german.html).not.toContain("12 May");
  const plain = await pageOf({ looks: { ...LOOKS, template: undefined } });
  expect(plain.html).toContain('alt="The &lt;Hall&gt;"');
});

test("parts that have not their form are left out, and the others are taken", async () => {
  const { html } = await pageOf({
    looks: {
      logo: "https://spy.example/logo.png",
      colours: { light: { paper: "url(//spy.example)" }, dark: { ink: "#f3ece3" } },
      template: "<script>alert(1)</script>{{room}}",
      later: { unknown: true },
    },
  });
  expect(html).not.toMatch(/spy\.example|alert\(1\)/);
  expect(html).toContain("--ink:#f3ece3");
});

test("a look that no language has room for costs the page its template and logo, not its form", async () => {
  const noise = Array.from({ length: 3_000 }, (_, at) => ((at * 48_271) % 65_521).toString(36));
  const template = `<p>${noise.join(" ")}</p>{{room}}`;
  const { html } = await pageOf({ looks: { ...LOOKS, template } });
  expect(html).not.toContain(noise.join(" "));
  expect(html).toContain('<img class="logo"');
  expect(html.length).toBeLessThan(60_000);
});

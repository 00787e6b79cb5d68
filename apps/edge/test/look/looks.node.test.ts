/** The page in an organizer's looks: what gets into it, and how much. */
import { readFileSync } from "node:fs";
import { deflateRawSync, gzipSync } from "node:zlib";
import { type Looks, looksSchema, type ManifestLooks } from "@vestibule/contracts/looks";
import { LANGUAGES } from "@vestibule/contracts/languages";
import { parse as read } from "@vestibule/contracts/parse";
import type { DripView } from "@vestibule/contracts/statements";
import { checkLooks } from "@vestibule/looks/check-looks";
import fc from "fast-check";
import { type DefaultTreeAdapterTypes, parse } from "parse5";
import { describe, expect, it, test } from "vitest";
import { previewPage } from "../../preview/preview-page.ts";
import { renderPage } from "../../preview/render.ts";
import { EVENT } from "../event.ts";

const NOW = EVENT.endsAt - 86_400_000;
const drip: DripView = {
  ...{ event: "demo", iat: 0, exp: NOW, at: NOW, seq: 1, state: "open", segments: [], cuts: [] },
  ...{ serving: 10, committed: 20, skips: [], issued: 90_000, rate: 600, endsAt: EVENT.endsAt },
  notice: "Day trains have plenty of seats left.",
};
const page = (looks: ManifestLooks | undefined, { tag = "en", title = EVENT.title } = {}) =>
  renderPage({
    event: { ...EVENT, title, ...(looks === undefined ? {} : { looks }) },
    ...{ tag, now: NOW, standing: { number: 1_204_118 }, drip },
  });
const htmlOf = async (...input: Parameters<typeof page>) =>
  Buffer.from((await page(...input)).page).toString();

const example = (): Looks => {
  const looks = read(looksSchema, JSON.parse(readFileSync("docs/examples/looks.json", "utf8")));
  if (!looks.ok) throw new Error(JSON.stringify(looks.refusal));
  return looks.value;
};
const options = {
  accent: EVENT.accent,
  compressedBytes: (text: string) => deflateRawSync(text).length,
};

interface Found {
  readonly elements: string[];
  readonly attributes: string[];
  readonly scripts: string[];
  readonly texts: string[];
}

function found(html: string): Found {
  const all: Found = { elements: [], attributes: [], scripts: [], texts: [] };
  const walk = (node: DefaultTreeAdapterTypes.Node): void => {
    if ("attrs" in node) {
      all.elements.push(node.tagName);
      all.attributes.push(...node.attrs.map(({ name }) => `${node.tagName} ${name}`));
    }
    if (node.nodeName === "#text" && "value" in node) {
      const isScript = node.parentNode !== null && node.parentNode.nodeName === "script";
      (isScript ? all.scripts : all.texts).push(node.value);
    }
    if ("childNodes" in node) node.childNodes.forEach(walk);
  };
  walk(parse(html));
  return all;
}

describe("looks of an organizer's own", () => {
  it("docs: the example passes, and is kept as it is", () => {
    expect(checkLooks(example(), options)).toEqual({ ok: true, value: example() });
  });

  it("show logo, title and words, these to the readers of their language alone", async () => {
    const looks = example();
    const english = await htmlOf(looks);
    expect(english).toContain('alt="Museum Night"');
    expect(english).toContain("Saturday, 12 May");
    expect(english).toContain("You go in by yourself when it is your turn. Members: have");
    expect(english).not.toContain("Samstag");
    expect(await htmlOf(looks, { tag: "de" })).toContain("Samstag, 12. Mai");
    const french = await htmlOf(looks, { tag: "fr" });
    expect(french).not.toMatch(/Saturday|Samstag|Members/);
  });

  it("without a template have logo and title above, and without any the title alone", async () => {
    const { logo, logoAlt } = example();
    const header = (html: string) => /<header>.*?<\/header>/s.exec(html)?.[0] ?? "";
    expect(header(await htmlOf(undefined))).toBe(
      `<header><p class="title"><span dir="auto">${EVENT.title}</span></p></header>`,
    );
    expect(header(await htmlOf({ logo, logoAlt }))).toMatch(/^<header><img .*<p class="title">/);
    const around = "<p>before</p>{{room}}<p>after</p>";
    expect(header(await htmlOf({ template: around }))).toMatch(/title.*before/);
  });
});

test("docs: a preview holds every state in both schemes, each in a frame that runs nothing", async () => {
  const title = `"><script>alert(1)</script>`;
  const preview = await previewPage({ title, accent: EVENT.accent, looks: example(), tag: "de" });
  const { elements, attributes } = found(preview);
  expect(elements.filter((name) => name === "iframe")).toHaveLength(12);
  expect(attributes.filter((name) => name === "iframe sandbox")).toHaveLength(12);
  expect(elements).not.toContain("script");
  expect(preview).toContain("Samstag, 12. Mai");
  expect(preview).not.toContain("prefers-color-scheme");
});

describe("AO-06: whatever stands in the manifest", () => {
  const NASTY = [
    "</script><script>alert(1)</script>",
    "</style><img src=x onerror=alert(1)>",
    "\"'><svg onload=alert(1)>",
    "{{title}}{{logo}}{{room}}",
    "$& $' $` $1",
    "red;}*{display:none}",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "\u202e\u2028\u0000\u0007",
    "=cmd|' /C calc'!A0",
    "x".repeat(10_000),
    "constructor",
    "__proto__",
  ];
  const nasty = fc.oneof(fc.constantFrom(...NASTY), fc.string({ unit: "binary" }));
  const looks: fc.Arbitrary<ManifestLooks> = fc.record(
    {
      logo: nasty.map((text) => `data:image/svg+xml,${text}`),
      logoAlt: nasty,
      colours: fc.record({ light: fc.record({ ink: nasty, paper: nasty, accent: nasty }) }),
      texts: fc.dictionary(
        fc.constantFrom("en", "constructor", "__proto__"),
        fc.record({ under: nasty, waiting: nasty, soldout: nasty }),
      ),
      template: fc.oneof(
        nasty,
        fc.tuple(nasty, nasty).map((parts) => parts.join("{{room}}")),
      ),
    },
    { requiredKeys: [] },
  );

  it("comes into a page as text, and as nothing else", async () => {
    const plain = found(await htmlOf(undefined));
    const allowed = new Set([...plain.attributes, "img class", "img src", "img alt", "p class"]);
    await fc.assert(
      fc.asyncProperty(looks, nasty, async (own, title) => {
        const html = await htmlOf(own, { title });
        const { elements, attributes, scripts } = found(html);
        const extra = elements.filter((name) => name !== "img" && name !== "p");
        expect(extra).toEqual(plain.elements.filter((name) => name !== "p"));
        expect(attributes.filter((name) => !allowed.has(name))).toEqual([]);
        const [data = "", texts, script] = scripts;
        expect([texts, script]).toEqual(plain.scripts.slice(1));
        expect(JSON.parse(data)).toMatchObject({ title });
        const css = /<style>(.*?)<\/style>/s.exec(html)?.[1] ?? "";
        expect(css).not.toMatch(/display:none|red;|<|javascript/);
      }),
    );
  });

  it("canary: the look at the page finds what is put into it", async () => {
    const html = (await htmlOf(undefined)).replace("<header>", "<header><svg onload=x><b>");
    const { elements, attributes } = found(html);
    expect(elements).toContain("b");
    expect(attributes).toContain("svg onload");
  });
});

describe("what a language has no room for", () => {
  it("is left out, the template before the logo, and the page is whole without it", async () => {
    const { logo, logoAlt } = example();
    const heavy = (length: number) =>
      `<p>${Array.from({ length }, (_, at) => ((at * 48_271) % 65_521).toString(36)).join(" ")}</p>{{room}}`;
    const big = await page({ logo, logoAlt, template: heavy(1_000) });
    expect(big.leftOut).toEqual(["template"]);
    expect(Buffer.from(big.page).toString()).toMatch(/<header><img class="logo"/);
    const bigger = `${logo}${heavy(1_000)}`;
    expect((await page({ logo: bigger, logoAlt, template: heavy(1_000) })).leftOut).toEqual([
      "template",
      "logo",
    ]);
    expect((await page({ logo: bigger, logoAlt })).leftOut).toEqual(["logo"]);
  });

  it("is nothing of the example in English", async () => {
    expect((await page(example())).leftOut).toEqual([]);
  });
});

describe("the page in the largest looks", () => {
  /** What compresses worst of what is allowed, as much of it as the mint takes. */
  const largest = (make: (size: number) => Looks): Looks => {
    let [fits, fails] = [0, 6_000];
    while (fails - fits > 1) {
      const size = Math.floor((fits + fails) / 2);
      if (checkLooks(make(size), options).ok) fits = size;
      else fails = size;
    }
    expect(fits).toBeGreaterThan(100);
    return make(fits);
  };
  let state = 7;
  const noise = (alphabet: string, length: number) =>
    Array.from({ length }, () => {
      state = (state * 48_271) % 2_147_483_647;
      return alphabet[state % alphabet.length];
    }).join("");
  const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  const words = noise(`${BASE64}      .,`, 6_000);
  const pixels = Buffer.from("\x89PNG\r\n\x1a\n____IHDR\0\0\0\x64\0\0\0\x32", "latin1");
  const COLOURS = {
    light: { paper: "#fbf6ee", ink: "#2b2118", accent: "#a8442c" },
    dark: { paper: "#1b1613", ink: "#f3ece3", accent: "#d9a08f" },
  };

  it.each<[string, (size: number) => Looks]>([
    [
      "a logo in pixels",
      (size) => ({
        logo: `data:image/png;base64,${pixels.toString("base64")}${noise(BASE64, size - (size % 4))}`,
        logoAlt: "x",
        colours: COLOURS,
      }),
    ],
    [
      "a logo that is drawn",
      (size) => ({
        logo: `data:image/svg+xml,<svg%20xmlns="http://www.w3.org/2000/svg"><path%20d="${words.slice(0, size).replaceAll(" ", "-")}"/></svg>`,
        logoAlt: "x",
        colours: COLOURS,
      }),
    ],
    [
      "a template",
      (size) => ({ template: `<p>${words.slice(0, size)}</p>{{room}}`, colours: COLOURS }),
    ],
    [
      "words in every language",
      (size) => ({
        colours: COLOURS,
        template: `<p>${words.slice(0, size)}</p>{{room}}`,
        texts: Object.fromEntries(LANGUAGES.map((tag) => [tag, { under: "ÄÖ", waiting: "ÄÖ" }])),
      }),
    ],
  ])(
    "%s is below 14,336 bytes in every language, compressed as a CDN does it",
    async (_what, make) => {
      const looks = largest(make);
      for (const tag of LANGUAGES) {
        const bytes = gzipSync((await page(looks, { tag })).page, { level: 6 }).length;
        expect(bytes, `${tag}: ${bytes} bytes`).toBeLessThan(14_336);
      }
    },
  );
});

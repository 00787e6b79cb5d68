import fc from "fast-check";
import { type DefaultTreeAdapterTypes, parse } from "parse5";
import { describe, expect, it } from "vitest";
import { checkLooks } from "../src/check-looks.ts";
import { ELEMENTS, templateRegions } from "../src/template-form.ts";
import { readTemplate } from "../src/template.ts";

const read = (source: string) => readTemplate(source, { hasLogo: false });

/** Names of elements and attributes that a browser finds in a page of this form. */
function foundIn(html: string): { elements: Set<string>; attributes: Set<string> } {
  const elements = new Set<string>();
  const attributes = new Set<string>();
  const walk = (node: DefaultTreeAdapterTypes.Node): void => {
    if ("attrs" in node) {
      elements.add(node.tagName);
      for (const { name, value } of node.attrs) attributes.add(name === "href" ? value : name);
    } else if (node.nodeName === "#comment") elements.add("comment");
    if ("content" in node) walk(node.content);
    if ("childNodes" in node) node.childNodes.forEach(walk);
  };
  walk(parse(html));
  return { elements, attributes };
}

/** What a location would write for it: whether any of it is more, or elsewhere, than it may be. */
function escapes(html: string): string[] {
  const regions = templateRegions(html);
  if (regions === undefined) return ["no regions"];
  const { elements, attributes } = foundIn(
    `<!doctype html><header>${regions.before}</header><main id="room"></main><footer>${regions.after}</footer>`,
  );
  const ours = ["html", "head", "body", "header", "main", "footer", ...ELEMENTS];
  return [
    ...[...elements].filter((name) => !ours.includes(name)),
    ...[...attributes].filter(
      (name) => !/^(?:class|lang|dir|target|rel|id|https:\/\/.*)$/.test(name),
    ),
  ];
}

describe("a template", () => {
  it("is written anew, with what every link has", () => {
    const source =
      '<p class="row large"><b>{{title}}</b> <a href="https://shop.example/help?a=1&b=2">Help</a>{{room}}<p lang=de>Bis gleich<br>Ihr Team';
    expect(read(source)).toEqual({
      html: expect.any(String),
      mistakes: ["{{room}} must stand outside of every element"],
    });
    const good = read(source.replace("{{room}}", "</p>{{room}}"));
    expect(good.mistakes).toEqual([]);
    expect(good.html).toBe(
      '<p class="row large"><b>{{title}}</b> <a href="https://shop.example/help?a=1&amp;b=2" target="_blank" rel="noopener noreferrer">Help</a></p>{{room}}<p lang="de">Bis gleich<br>Ihr Team</p>',
    );
    expect(read(good.html)).toEqual(good);
    expect(escapes(good.html)).toEqual([]);
  });

  it.each([
    ["<script>alert(1)</script>", "script is not allowed"],
    ["<style>*{display:none}</style>", "style is not allowed"],
    ["<svg><a href='javascript:x'/></svg>", "svg is not allowed"],
    ["<img src=x onerror=alert(1)>", "img is not allowed"],
    ["<iframe src=//spy.example></iframe>", "iframe is not allowed"],
    ["<meta http-equiv=refresh content=0>", "meta is not allowed"],
    ["<base href=//spy.example>", "base is not allowed"],
    ["<link rel=stylesheet href=//spy.example>", "link is not allowed"],
    ["<form action=//spy.example><button>Join</button></form>", "form is not allowed"],
    ["<template><script>1</script></template>", "template is not allowed"],
    ["<p id=headline>x</p>", "attribute id is not allowed"],
    ["<p style='position:fixed'>x</p>", "attribute style is not allowed"],
    ["<p onclick=alert(1)>x</p>", "attribute onclick is not allowed"],
    ["<p class='go'>x</p>", "class must be of"],
    ["<a href='javascript:alert(1)'>x</a>", "href of a link must be"],
    ["<a href='http://shop.example'>x</a>", "href of a link must be"],
    ["<a href='https://shop.example@spy.example'>x</a>", "href of a link must be"],
    ["<a href='/checkout'>x</a>", "href of a link must be"],
    ["<a href='https://shop.example' target=_top>x</a>", "target of a link must be"],
    ["<a>x</a>", "href of a link must be"],
    ["<!-- x -->", "only elements and text"],
    ["<p>\u202e</p>", "direction of text"],
    ["<p>&#8238;x</p>", "direction of text"],
    ["<p>&#x2067;x</p>", "direction of text"],
    ["<p>\u0007</p>", "control characters"],
    ["{{room}}", "must say {{room}} once"],
    ["{{constructor}}", "is none of"],
    ["{{ room }}", "is none of"],
    ["{{logo}}", "There is no logo"],
    ["{{title}}{{title}}", "may stand in it once"],
    ["<b>".repeat(9), "at most 8"],
    ["<p x=1 x=2>a</p>", "duplicate-attribute"],
  ])("that holds %s is refused", (source, why) => {
    expect(read(`${source}{{room}}`).mistakes.join("; ")).toContain(why);
  });

  it("names all that is wrong, by line and column, and not more than 20 things", () => {
    const { mistakes } = read("<p id=a>x</p>\n <script>1</script>");
    expect(mistakes).toEqual([
      "Line 1, column 1: the attribute id is not allowed on p",
      "Line 2, column 2: the element script is not allowed",
      "It must say {{room}} once, where the room stands",
    ]);
    expect(read("<img>".repeat(500)).mistakes).toHaveLength(20);
    expect(read("\ud800{{room}}").mistakes).toEqual(["Must be well-formed text"]);
  });

  const pieces = [
    ...["<p>", "</p>", "<b>", "</b>", "<a href='https://a.example/?q=\"'>", "</a>", "<ul>", "<li>"],
    ...["</main>", "</header>", "</footer>", "<h2>", "</h2>", "<br>", "{{room}}", "{{title}}", "&"],
    ...[
      "<script>",
      "</script>",
      "<svg>",
      "<style>",
      "</style>",
      "<!--",
      "-->",
      "<p title='>'>",
      "<",
    ],
    ...["&lt;script&gt;", "&#x3c;", '"', "'", "<table><tr><td>", "</td></tr></table>", "<math>"],
    ...["<select>", "<option>", "<textarea>", "</textarea>", "<noscript>", "x\u2028", "\u0000"],
  ];
  const sources = fc
    .array(fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...pieces) }, fc.string()), {
      maxLength: 14,
    })
    .map((parts) => parts.join(""));

  it("that is taken escapes nowhere in a page, and stays as it is", () => {
    let taken = 0;
    fc.assert(
      fc.property(sources, sources, (before, after) => {
        const { html, mistakes } = read(`${before}{{room}}${after}`);
        if (mistakes.length > 0) return;
        taken += 1;
        expect(escapes(html)).toEqual([]);
        expect(read(html)).toEqual({ html, mistakes: [] });
      }),
      { examples: [["<p>a</p>", "<b>x</b>"]] },
    );
    expect(taken).toBeGreaterThan(0);
  });

  it("a location takes only what has the form: what was never checked stays out", () => {
    fc.assert(
      fc.property(sources, sources, (before, after) => {
        const html = `${before}{{room}}${after}`;
        if (templateRegions(html) !== undefined) expect(escapes(html)).toEqual([]);
      }),
    );
    for (const html of [
      "<script>1</script>{{room}}",
      "</header>{{room}}",
      "<p>{{room}}</p>",
      '<a href="javascript:x" target="_blank" rel="noopener noreferrer">x</a>{{room}}',
      '<p onclick="x">x</p>{{room}}',
      "<p>x{{room}}",
      "no room",
    ])
      expect(templateRegions(html), `takes ${html}`).toBeUndefined();
  });

  it("canary: the look at the page finds what should not be in it", () => {
    const page = (before: string) => foundIn(`<!doctype html><header>${before}</header>`);
    expect(page("<script>1</script>").elements).toContain("script");
    expect(page('<p onclick="x">').attributes).toContain("onclick");
  });

  it("of 10,000 characters, or of elements in elements, takes no long time and no fault", () => {
    for (const piece of ["<b>", "{{", "<a href='https://a.example'>", "&lt;", "<p class='", "x"])
      read(`${piece.repeat(10_000)}{{room}}`);
    expect(templateRegions(`${"x".repeat(100_000)}<{{room}}`)).toBeUndefined();
  });
});

describe("looks as a whole", () => {
  const options = { accent: "#0b6e4f", compressedBytes: (text: string) => text.length };

  it("are refused with everything that is wrong at once, and nothing of it is echoed", () => {
    const checked = checkLooks(
      {
        logo: "https://spy.example/<script>",
        colours: { dark: { ink: "#222222" } },
        template: "<script>alert(1)</script>",
      },
      options,
    );
    const refusal = checked.ok ? [] : checked.refusal;
    expect(refusal.map(({ field }) => field)).toEqual([
      "logo",
      "logoAlt",
      "colours.dark.ink",
      "template",
      "template",
    ]);
    expect(JSON.stringify(refusal)).not.toMatch(/spy|<script|alert/);
  });

  it("that would make a page too heavy are refused with the figure", () => {
    const template = `<p>${"x".repeat(2_000)}</p>{{room}}`;
    expect(checkLooks({ template }, options)).toMatchObject({
      refusal: [{ field: "", message: expect.stringMatching(/add 2018 bytes .* may add 640/) }],
    });
    expect(checkLooks({ template }, { ...options, compressedBytes: () => 99 }).ok).toBe(true);
    const texts = { hi: { under: "\u0939".repeat(200) } };
    const heavy = checkLooks({ texts, template }, { ...options, compressedBytes: () => 99 });
    expect(heavy.ok).toBe(true);
  });

  it("stay as they are when they are checked again", () => {
    const first = checkLooks({ template: "<p>Hi {{room}}".replace("{{", "</p>{{") }, options);
    if (!first.ok) throw new Error("refused");
    expect(checkLooks(first.value, options)).toEqual(first);
  });
});

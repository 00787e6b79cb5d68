import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isLogo } from "../src/logo-form.ts";
import { readLogo } from "../src/logo.ts";

const base64 = (bytes: Iterable<number>) => Buffer.from([...bytes]).toString("base64");
const svg = (inside: string, attributes = "") =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"${attributes}>${inside}</svg>`;
const uriOf = (source: string) => `data:image/svg+xml,${encodeURIComponent(source)}`;
const mistakesOf = (source: string) => readLogo(uriOf(source)).mistakes;

const png = (width: number, height: number, more = "") => {
  const size = [width, height].flatMap((side) => [side >>> 24, side >> 16, side >> 8, side]);
  const head = [0x89, ...Buffer.from("PNG\r\n\x1a\n"), 0, 0, 0, 13, ...Buffer.from("IHDR")];
  return `data:image/png;base64,${base64([...head, ...size.map((b) => b & 255), ...Buffer.from(more)])}`;
};

describe("a logo in pixels", () => {
  it("is what it says it is, of a size that a phone can show, and stands still", () => {
    expect(readLogo(png(120, 40))).toEqual({ uri: png(120, 40), mistakes: [] });
    expect(readLogo(png(65_535, 65_535)).mistakes).toEqual(["Each side must be 1 to 2048 pixels"]);
    expect(readLogo(png(0, 40)).mistakes).toHaveLength(1);
    expect(readLogo(png(9, 9, "xxxxacTL")).mistakes).toEqual(["It must not move"]);
    const jpeg = [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 1, 0xff, 0xc0, 0, 11, 8, 0, 40, 0, 90, 1];
    expect(readLogo(`data:image/jpeg;base64,${base64(jpeg)}`).mistakes).toEqual([]);
    const webp = Buffer.from("RIFF....WEBPVP8X........xxxyyy");
    webp.set([89, 0, 0, 39, 0, 0], 24);
    expect(readLogo(`data:image/webp;base64,${base64(webp)}`).mistakes).toEqual([]);
    webp.set([0, 8, 0], 24);
    expect(readLogo(`data:image/webp;base64,${base64(webp)}`).mistakes).toHaveLength(1);
    for (const kind of ["png", "jpeg", "webp"])
      expect(readLogo(`data:image/${kind};base64,aGVsbG8=`).mistakes).toEqual([
        `It is not a ${kind}`,
      ]);
  });

  it("that ends early, or is anything at all, is an answer and no fault", () => {
    const kinds = fc.constantFrom("png", "webp", "jpeg");
    fc.assert(
      fc.property(kinds, fc.uint8Array({ maxLength: 60 }), (kind, bytes) => {
        const heads = { png: "\x89PNG", webp: "RIFF....WEBP", jpeg: "\xff\xd8\xff" };
        const whole = [...Buffer.from(heads[kind as "png"], "latin1"), ...bytes];
        readLogo(`data:image/${kind};base64,${base64(whole)}`);
      }),
    );
  });
});

describe("a logo that is drawn", () => {
  it("is taken in any spelling of its data URI, and kept in one", () => {
    const source = svg('<!-- made by a tool --> <g fill="#0b6e4f"><path d="M0 0h9"/></g>\n');
    const kept = readLogo(uriOf(source));
    expect(kept).toEqual({
      uri: 'data:image/svg+xml,<svg%20xmlns="http://www.w3.org/2000/svg"%20viewBox="0%200%209%209"><g%20fill="%230b6e4f"><path%20d="M0%200h9"/></g></svg>',
      mistakes: [],
    });
    expect(readLogo(`data:image/svg+xml;base64,${base64(Buffer.from(source))}`)).toEqual(kept);
    expect(readLogo(kept.uri)).toEqual(kept);
  });

  it.each([
    ["<script>alert(1)</script>", /script is not allowed/],
    ['<s:script xmlns:s="http://www.w3.org/2000/svg"/>', /s:script is not allowed/],
    ['<foreignObject><p xmlns="http://www.w3.org/1999/xhtml">x</p></foreignObject>', /foreignO/],
    ['<image href="https://spy.example/x.png"/>', /image is not allowed/],
    ['<use href="#a"/>', /use is not allowed/],
    ['<path fill="url(https://spy.example/#a)"/>', /refer to nothing but/],
    ['<path fill="u\\72l(https://spy.example/)"/>', /refer to nothing but/],
    [`<path fill="image-set('https://spy.example/x' 1x)"/>`, /refer to nothing but/],
    [`<path fill="src('https://spy.example/x')"/>`, /refer to nothing but/],
    ['<clipPath id="a"><path clip-path="url(#b)"/></clipPath>', /refer to nothing but/],
    ['<path onclick="alert(1)"/>', /onclick is not allowed/],
    ['<path style="fill:url(//spy.example)"/>', /style is not allowed/],
    ["<style>@import '//spy.example'</style>", /style is not allowed/],
    ['<linearGradient href="https://spy.example/#a"/>', /href is not allowed/],
    ['<rect><animate attributeName="x"/></rect>', /animate is not allowed/],
    ["<path>", /not well-formed/],
    ["<![CDATA[<script/>]]>", /CDATA/],
    ["<?php?>", /processing instruction/],
    ["hello", /text outside/],
  ])("that holds %s is refused", (inside, why) => {
    const { uri, mistakes } = readLogo(uriOf(svg(inside)));
    expect(mistakes.join("; ")).toMatch(why);
    expect(uri).toBe("");
  });

  it("with entities of its own is refused, and so is what is no picture at all", () => {
    const bomb = `<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>${svg("<text>&b;</text>")}`;
    expect(mistakesOf(bomb).join()).toMatch(/document type/);
    expect(mistakesOf("<html/>").join()).toMatch(/outermost/);
    for (const uri of [
      "https://shop.example/logo.png",
      "javascript:alert(1)",
      "data:text/html,<script>alert(1)</script>",
      "data:image/gif;base64,R0lGODlhAQABAAAAACw=",
      "data:image/svg+xml,%ff",
      "data:image/svg+xml,",
    ]) {
      expect(readLogo(uri).mistakes.length, `about ${uri}`).toBeGreaterThan(0);
      expect(isLogo(uri) && !uri.includes("svg"), `about ${uri}`).toBe(false);
    }
  });

  it("comes out with allowed elements alone, whatever went in", () => {
    const pieces = fc.constantFrom(
      ...["<g>", "</g>", "<path/>", "<script>", "</script>", "<text>", "</text>", "&lt;", "x"],
      ...["<a href='x'/>", "<path onload='x'/>", "<path d=']]>'/>", "<!--", "-->", "&#60;script>"],
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), (inside) => {
        const { uri, mistakes } = readLogo(uriOf(svg(inside.join(""))));
        if (mistakes.length > 0) return;
        const text = decodeURIComponent(uri);
        expect(text).not.toMatch(/<script|onload|href|<!/i);
        expect(readLogo(uri).uri).toBe(uri);
      }),
    );
  });
});

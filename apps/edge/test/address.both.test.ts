import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readAddress, readUrl } from "../src/routing/address.ts";

const UNUSUAL = [
  "https://shop.example/a%62c?q=%20",
  "https://SHOP.example/",
  "https://shop.example:443/",
  "http://shop.example:80/a",
  "http://shop.example:8787/a?b=/c?d",
  "http://shop.example:08080/",
  "http://shop.example:99999/",
  "http://127.0.0.1:8787/events/demo",
  "http://127.1/",
  "http://0x7f.1/",
  "http://a.0x7f/",
  "http://[::1]:8787/",
  "https://xn--/",
  "https://xn--bcher-kva.example/a",
  "https://user@shop.example/",
  "https://shop.example",
  "https://shop.example?a",
  "https://shop.example/?",
  "https://shop.example/a?b#c",
  "https://shop.example/a?it's",
  "https://shop.example/../a/./b//c",
  "https://shop.example/a/..",
  "https://shop.example\\a",
  "https://shop.example./a",
  "https://a..b/",
  "https://-a-.b-/",
  "https://shop_1.example/",
  "https://shop.example/\ta",
  "https://shop.example/ü?ü",
  "ftp://shop.example/",
  "*",
  "",
];

describe("the cheap reading of an address", () => {
  test.each(UNUSUAL)("%j: as the runtime's parser reads it", (text) => {
    expect(readAddress(text)).toEqual(readUrl(text));
  });
  test("of one origin after another: none is taken for the one before", () => {
    const origins = [
      "http://a.example",
      "http://a.example:8080",
      "https://a.example",
      "http://b.a",
    ];
    for (const origin of [...origins, ...origins.toReversed(), ...origins]) {
      for (const url of [`${origin}/a?b`, `${origin}.x/a`, `${origin}/`, `${origin}@c.d/`]) {
        expect(readAddress(url)).toEqual(readUrl(url));
      }
    }
  });
  test("of any text: as the runtime's parser reads it", () => {
    const part = (chars: string) =>
      fc.string({ unit: fc.constantFrom(...Array.from(chars)), maxLength: 12 });
    const text = fc
      .tuple(
        fc.constantFrom("http://", "https://", "HTTP://", "http:/", "https:"),
        part("abx0127.-n:@%_A"),
        part("/a.%2eE:;'@~\\ü "),
        part("?a='%20<#/&ü \\"),
      )
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, (url) => {
        expect(readAddress(url)).toEqual(readUrl(url));
      }),
      { numRuns: 2_000 },
    );
  });
});

import { decodeBase64url, encodeBase64url } from "@vestibule/keys/base64url";
import { base64url as jose } from "jose";
import fc from "fast-check";
import { expect, test } from "vitest";

test("any bytes come back, and are spelled as everybody else spells them", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const text = encodeBase64url(bytes);
      expect(text).toBe(jose.encode(bytes));
      expect(decodeBase64url(text)).toEqual(new Uint8Array(bytes));
    }),
  );
});

test("whatever is decoded has one spelling only", () => {
  const nearly = fc.string({
    unit: fc.constantFrom(...Array.from("AQgw_-BCDz019+/= \n\u00e9\u{1f600}")),
    maxLength: 12,
  });
  fc.assert(
    fc.property(nearly, (text) => {
      const bytes = decodeBase64url(text);
      if (bytes !== undefined) expect(encodeBase64url(bytes)).toBe(text);
    }),
  );
});

test.each([
  "A",
  "AB",
  "AAB",
  "QQ==",
  "Q Q",
  "QQ\n",
  " QQ",
  "+A",
  "/A",
  "QUJDR",
  "\u0100A",
  "A\u0141",
])("%j is no spelling of anything", (text) => {
  expect(decodeBase64url(text)).toBeUndefined();
});

import { expect, test } from "vitest";
import { isIdempotencyKey, isTokenShaped, isUser } from "../src/header-text.ts";
import { IDEMPOTENCY_KEY_CHARS_MAX, TOKEN_CHARS_MAX, USER_CHARS_MAX } from "../src/limits.ts";

test.each([
  ["an idempotency key", isIdempotencyKey, IDEMPOTENCY_KEY_CHARS_MAX],
  ["a user", isUser, USER_CHARS_MAX],
] as const)("%s is visible ASCII of a bounded length", (_what, is, charsMax) => {
  for (const good of ["a", "!", "~", "cart-1,2", "x".repeat(charsMax)]) expect(is(good)).toBe(true);
  const bad = ["", " ", "a b", "one, two", "a\n", "\n", "a\u0000", "é", "\u007f"];
  for (const text of [...bad, "x".repeat(charsMax + 1)]) expect(is(text)).toBe(false);
  for (const value of [undefined, null, 1, ["a"], {}]) expect(is(value)).toBe(false);
});

test("a token has three parts of base64url, and is no longer than we sign", () => {
  const longest = `a.b.${"c".repeat(TOKEN_CHARS_MAX - 4)}`;
  for (const good of ["a.b.c", "A-_9.b.c", longest]) expect(isTokenShaped(good)).toBe(true);
  const bad = ["", "a", "a.b", "a.b.c.d", "a..c", ".b.c", "a.b.", "a.b.c=", "a.b.c ", "a.b.c\n"];
  for (const text of [...bad, "a.b;c.d", "a,b.c.d", `${longest}c`]) {
    expect(isTokenShaped(text)).toBe(false);
  }
  for (const value of [undefined, null, 1, ["a.b.c"], {}]) expect(isTokenShaped(value)).toBe(false);
});

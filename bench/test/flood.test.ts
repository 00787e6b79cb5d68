import { ADMISSION_TYP } from "@vestibule/token/types";
import { expect, it } from "vitest";

import { keySetsMost } from "../src/keys/flood-messages.ts";
import { withJunkKid } from "../src/keys/junk-kid.ts";

it("a flood's token is a good one in everything but its kid, which is another each time", () => {
  const texts = Array.from({ length: 1_000 }, () => withJunkKid("header.payload.signature"));
  expect(new Set(texts).size).toBe(1_000);
  const [text = ""] = texts;
  expect(text.slice(text.indexOf("."))).toBe(".payload.signature");
  const header: unknown = JSON.parse(Buffer.from(text.split(".")[0] ?? "", "base64url").toString());
  expect(header).toEqual({
    ...{ alg: "Ed25519", typ: ADMISSION_TYP },
    kid: expect.stringMatching(/^[\w-]{43}$/) as string,
  });
});

it("an isolate may ask once a cool-down and once a schedule, of which those that have begun count", () => {
  expect(keySetsMost(0, 1)).toBe(2);
  expect(keySetsMost(9_999, 1)).toBe(2);
  expect(keySetsMost(10_000, 1)).toBe(3);
  expect(keySetsMost(60_000, 1)).toBe(9);
  expect(keySetsMost(60_000, 10)).toBe(90);
});

import { expect, test } from "vitest";

import { letInSoFar, turnWords } from "../src/watch.ts";

test("who was let in stays counted when a hold takes back the claims of the slots that it cuts", () => {
  let before = 0;
  const shown = [
    { claimed: 10, serving: 8 },
    { claimed: 12, serving: 12 },
    { claimed: 5, serving: 12 },
    { claimed: 14, serving: 13 },
  ].map((look) => (before = letInSoFar({ ...look, before })));
  expect(shown).toEqual([8, 12, 12, 13]);
});

test("selling out and reopening are told once, when they happen", () => {
  expect(turnWords("open", "soldout")).toMatch(/Sold out/);
  expect(turnWords("soldout", "open")).toMatch(/goes on/);
  expect(turnWords("soldout", "soldout")).toBeUndefined();
  expect(turnWords("open", "paused")).toBeUndefined();
});

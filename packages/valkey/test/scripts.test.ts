import { readdirSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import type { Script } from "../src/script.ts";

const folder = join(import.meta.dirname, "../src/scripts");

/** Every script there is, found as whoever adds one would add it. */
const scripts: Script<unknown>[] = [];
for (const file of readdirSync(folder)) {
  const module = (await import(join(folder, file))) as Record<string, unknown>;
  for (const value of Object.values(module)) {
    if (typeof value === "object" && value !== null && "text" in value)
      scripts.push(value as Script<unknown>);
  }
}

test("there are seven scripts, each named once", () => {
  expect(scripts.map(({ name }) => name).sort()).toEqual([
    "give_back_token",
    "inspect_gate",
    "remember_buyer",
    "repair_gate",
    "reserve_seats",
    "settle_seats",
    "take_token",
  ]);
});

describe.each(scripts)("$name", ({ name, text, read }) => {
  const header = text
    .split("\n")
    .filter((line) => line.startsWith("-- "))
    .join("\n");

  test("says in its header what it does, its keys, its arguments and what it returns", () => {
    expect(text.startsWith(`-- ${name}: `)).toBe(true);
    expect(header).toMatch(/^-- KEYS\[1/m);
    expect(header).toMatch(/^-- ARGV\[1\]/m);
    expect(header).toMatch(/^-- Returns {2}/m);
    for (const [argument] of text.matchAll(/ARGV\[\d+\]/g)) expect(header).toContain(argument);
  });

  test("needs nothing that Redis 7 or Valkey 8 and 9 lack", () => {
    expect(text).not.toMatch(/\b(server|bit|cjson|cmsgpack)\./);
    expect(text).not.toMatch(/replicate_commands|redis\.setresp|#!lua/);
    expect(text).not.toContain("tostring(");
  });

  test("believes no reply that is not its own", () => {
    for (const reply of [
      undefined,
      null,
      "",
      "OK",
      -1,
      1.5,
      99,
      [],
      [[]],
      {},
      [1, 2, 3, 4, 5],
      ["1"],
    ]) {
      expect(read(reply, ["10", "1000"])).toBeUndefined();
    }
  });
});

describe("what take_token's reply may be, of 10 tokens and one a second", () => {
  const { read } = scripts.find(({ name }) => name === "take_token")!;
  const args = ["10", "1000"];

  test.each([
    [1_000, { allowed: true, remaining: 9, retryAfterMs: 0, fullAfterMs: 1_000 }],
    [1_001, { allowed: true, remaining: 8, retryAfterMs: 0, fullAfterMs: 1_001 }],
    [9_000, { allowed: true, remaining: 1, retryAfterMs: 0, fullAfterMs: 9_000 }],
    [9_001, { allowed: true, remaining: 0, retryAfterMs: 0, fullAfterMs: 9_001 }],
    [10_000, { allowed: true, remaining: 0, retryAfterMs: 0, fullAfterMs: 10_000 }],
    [-9_001, { allowed: false, remaining: 0, retryAfterMs: 1, fullAfterMs: 9_001 }],
    [-10_000, { allowed: false, remaining: 0, retryAfterMs: 1_000, fullAfterMs: 10_000 }],
  ])("%d is an answer", (reply, taken) => {
    expect(read(reply, args)).toEqual(taken);
  });

  test.each([0, -0, 1, 999, 10_001, 2 ** 53, -1, -9_000, -10_001, 1_000.5, Number.NaN, Infinity])(
    "%d is none: no take can have led there",
    (reply) => {
      expect(read(reply, args)).toBeUndefined();
    },
  );
});

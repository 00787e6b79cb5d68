import { locationSchema } from "@vestibule/contracts/edges-api";
import { parse } from "@vestibule/contracts/parse";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type EdgeEnv, readConfig } from "../src/config.ts";

const ENV: EdgeEnv = {
  MINT_URLS: "https://mint.example",
  ORIGIN_URL: "https://origin.example",
  ISSUER: "https://mint.example",
};

function nameOf(LOCATION: string | undefined, colo?: unknown): string | undefined {
  const env = LOCATION === undefined ? ENV : { ...ENV, LOCATION };
  const read = readConfig(env, colo);
  return read.ok ? read.value.location : undefined;
}

test.each<[string | undefined, unknown, string]>([
  ["fra-1", "FRA", "fra-1"],
  [undefined, "FRA", "FRA"],
  ["", "FRA", "FRA"],
  ["Frankfurt (east) 2", undefined, "Frankfurt-east-2"],
  ["  ", "FRA", "FRA"],
  ["Zürich/../x", undefined, "Z-rich-..-x"],
  [undefined, undefined, "unnamed"],
  [undefined, 7, "unnamed"],
  ["x".repeat(80), undefined, "x".repeat(64)],
])("LOCATION %s at %s is called %s", (location, colo, name) => {
  expect(nameOf(location, colo)).toBe(name);
});

test("whatever it is called, the mint takes the name", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.anything(), (location, colo) => {
      expect(parse(locationSchema, nameOf(location, colo)).ok).toBe(true);
    }),
  );
});

import { ConfigError, readConfig } from "@vestibule/service/env";
import { expect, test } from "vitest";
import { crossCheck, VARIABLES } from "../src/config.ts";

const NEEDED = {
  VESTIBULE_PORT: "0",
  VESTIBULE_DATABASE_URL: "postgres://127.0.0.1/mint",
  VESTIBULE_ISSUER: "https://mint.example",
  VESTIBULE_ADMIN_TOKEN: "a".repeat(32),
  VESTIBULE_KEK: Buffer.alloc(32, 7).toString("base64url"),
};

const read = (more: Record<string, string>) =>
  readConfig(VARIABLES, { ...NEEDED, ...more }, undefined, crossCheck);

function mistakesOf(more: Record<string, string>): readonly string[] {
  try {
    read(more);
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes;
    throw error;
  }
  return [];
}

test("without its token nobody reads metrics, and without a number no proxy is believed", () => {
  const config = read({});
  expect(config.metricsToken).toBeUndefined();
  expect(config.trustProxyHops).toBe(0);
});

test("whoever collects metrics has no other power: each token is another text", () => {
  const token = "m".repeat(32);
  expect(mistakesOf({ VESTIBULE_METRICS_TOKEN: token })).toEqual([]);
  expect(mistakesOf({ VESTIBULE_METRICS_TOKEN: NEEDED.VESTIBULE_ADMIN_TOKEN })).toEqual([
    "VESTIBULE_ADMIN_TOKEN and VESTIBULE_METRICS_TOKEN must differ",
  ]);
  expect(mistakesOf({ VESTIBULE_METRICS_TOKEN: token, VESTIBULE_SUPPLY_TOKEN: token })).toEqual([
    "VESTIBULE_SUPPLY_TOKEN and VESTIBULE_METRICS_TOKEN must differ",
  ]);
});

test("a token that could be guessed, and a number of proxies that is none, stop the start", () => {
  expect(mistakesOf({ VESTIBULE_METRICS_TOKEN: "m".repeat(31), TRUST_PROXY_HOPS: "11" })).toEqual([
    "TRUST_PROXY_HOPS: must be at most 10",
    "VESTIBULE_METRICS_TOKEN: must have at least 32 characters",
  ]);
  for (const TRUST_PROXY_HOPS of ["-1", "1.5", "all", ""])
    expect(mistakesOf({ TRUST_PROXY_HOPS })).toHaveLength(1);
});

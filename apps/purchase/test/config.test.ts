import { ConfigError, readConfig } from "@vestibule/service/env";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { crossCheck, type PurchaseConfig, VARIABLES } from "../src/config.ts";

const SECRET = "s".repeat(32);
const ENOUGH = {
  VESTIBULE_PORT: "4002",
  VESTIBULE_DATABASE_URL: "postgres://sale@db/sale",
  VESTIBULE_ISSUER: "https://mint.test",
  VESTIBULE_MINT_URLS: "http://mint:4001",
  VESTIBULE_ADMIN_TOKEN: SECRET,
};

function read(environment: Record<string, string>): PurchaseConfig {
  const noFile = (): string => {
    throw new Error("no file");
  };
  return readConfig(VARIABLES, { ...ENOUGH, ...environment }, noFile, crossCheck);
}

function mistakes(environment: Record<string, string>): readonly string[] {
  try {
    read(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes;
    throw error;
  }
  return [];
}

test("without a word about it: limits in the process, gate on, no proxy believed, no shop, no reports", () => {
  expect(read({})).toMatchObject({
    valkeyUrl: undefined,
    valkeyDeadlineMs: 250,
    gateEnabled: true,
    trustProxyHops: 0,
    instances: 1,
    identitySecret: undefined,
    shopToken: undefined,
    supplyToken: undefined,
    creditKey: undefined,
    purchaseLimit: { capacity: 10, refillMs: 1_000 },
    consoleLogInLimit: { capacity: 20, refillMs: 3_000 },
    readLimit: { capacity: 600, refillMs: 10 },
  });
});

test("two tokens of the same text are refused: who is told one would have the other's power", () => {
  const [one, other] = ["o".repeat(32), "p".repeat(32)];
  const [shop, supply] = ["VESTIBULE_SHOP_TOKEN", "VESTIBULE_SUPPLY_TOKEN"];
  expect(mistakes({ [shop]: one, [supply]: other })).toEqual([]);
  expect(mistakes({ [shop]: SECRET })).toEqual([
    "VESTIBULE_ADMIN_TOKEN and VESTIBULE_SHOP_TOKEN must differ",
  ]);
  expect(mistakes({ [supply]: SECRET })).toEqual([
    "VESTIBULE_ADMIN_TOKEN and VESTIBULE_SUPPLY_TOKEN must differ",
  ]);
  expect(mistakes({ [shop]: one, [supply]: one })).toEqual([
    "VESTIBULE_SHOP_TOKEN and VESTIBULE_SUPPLY_TOKEN must differ",
  ]);
  expect(mistakes({ [shop]: SECRET, [supply]: SECRET })).toHaveLength(3);
});

describe("limits", () => {
  test.each([
    ["10/1s", { capacity: 10, refillMs: 1_000 }],
    ["20/3s", { capacity: 20, refillMs: 3_000 }],
    ["1/250ms", { capacity: 1, refillMs: 250 }],
    ["5/1m", { capacity: 5, refillMs: 60_000 }],
    ["1440/1m", { capacity: 1_440, refillMs: 60_000 }],
  ])("%s", (text, limit) => {
    expect(read({ VESTIBULE_LIMIT_PURCHASE: text }).purchaseLimit).toEqual(limit);
  });

  test.each([
    "",
    "10",
    "10/",
    "/1s",
    "0/1s",
    "10/0s",
    "-1/1s",
    "10/-1s",
    "1.5/1s",
    "10/1.5s",
    "1e3/1s",
    "10/1h",
    "10/1S",
    " 10/1s",
    "10/1s ",
    "10 / 1s",
    "010/1s",
    "1441/1m",
    "9999999/1ms",
    "Infinity/1s",
  ])("%j is a mistake", (text) => {
    expect(mistakes({ VESTIBULE_LIMIT_CONSOLE_LOG_IN: text })).toEqual([
      expect.stringContaining("VESTIBULE_LIMIT_CONSOLE_LOG_IN"),
    ]);
  });

  test("whatever is taken has whole positive numbers and is full again within a day", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9./ms-]{0,12}$/), (text) => {
        if (mistakes({ VESTIBULE_LIMIT_PURCHASE: text }).length > 0) return;
        const { capacity, refillMs } = read({ VESTIBULE_LIMIT_PURCHASE: text }).purchaseLimit;
        expect(Number.isSafeInteger(capacity) && capacity >= 1).toBe(true);
        expect(Number.isSafeInteger(refillMs) && refillMs >= 1).toBe(true);
        expect(capacity * refillMs).toBeLessThanOrEqual(86_400_000);
      }),
    );
  });
});

describe("Valkey", () => {
  const IDENTITY = { VESTIBULE_IDENTITY_SECRET: SECRET };

  test.each([
    "redis://valkey:6379",
    "rediss://user:pa%40ss@valkey:6380/1",
    "valkey://[::1]:6379",
    "unix:///run/valkey.sock",
    "/run/valkey.sock",
    "redis://a:1,redis://b:2, redis://c:3",
  ])("%s is taken, and never shown", (url) => {
    const config = read({ VALKEY_URL: url, ...IDENTITY });
    expect(config.valkeyUrl?.reveal()).toBe(url);
    expect(JSON.stringify(config)).not.toContain(url);
  });

  test.each(["", "valkey", "http://valkey:6379", "redis://", "redis://a:1,,redis://b:2", "x://a"])(
    "%j is a mistake that repeats nothing of it",
    (url) => {
      const told = mistakes({ VALKEY_URL: url, ...IDENTITY });
      expect(told).toEqual([expect.stringMatching(/^VALKEY_URL: /)]);
      const secretly = mistakes({ VALKEY_URL: "redis://:hunter2@a:b:c", ...IDENTITY });
      expect(secretly.join()).not.toContain("hunter2");
    },
  );

  test("it needs the secret that all instances share", () => {
    expect(mistakes({ VALKEY_URL: "redis://valkey:6379" })).toEqual([
      expect.stringMatching(/^VESTIBULE_IDENTITY_SECRET is required with VALKEY_URL/),
    ]);
  });

  test("production and more than one instance need it", () => {
    expect(mistakes({ NODE_ENV: "production", VESTIBULE_INSTANCES: "3" })).toEqual([
      expect.stringMatching(/^VALKEY_URL is required with NODE_ENV=production/),
      expect.stringMatching(/^VALKEY_URL is required with VESTIBULE_INSTANCES above 1/),
    ]);
    const url = { VALKEY_URL: "redis://valkey:6379", ...IDENTITY };
    expect(mistakes({ NODE_ENV: "production", VESTIBULE_INSTANCES: "3", ...url })).toEqual([]);
    expect(mistakes({ NODE_ENV: "development", VESTIBULE_INSTANCES: "1" })).toEqual([]);
  });

  test("one mistake is told once: an address that cannot be read is not told missing as well", () => {
    expect(mistakes({ NODE_ENV: "production", VALKEY_URL: "nonsense" })).toHaveLength(1);
  });
});

test("all mistakes are told at once, those between settings too", () => {
  const told = mistakes({
    VESTIBULE_PORT: "x",
    TRUST_PROXY_HOPS: "11",
    VALKEY_DEADLINE_MS: "49",
    INVENTORY_GATE_ENABLED: "yes",
    VESTIBULE_INSTANCES: "2",
    VESTIBULE_SHOP_TOKEN: "short",
    VESTIBULE_SUPPLY_TOKEN: "short",
    VESTIBULE_IDENTITY_SECRET: "short",
    VESTIBULE_CREDIT_KEY: "",
    VESTIBULE_LIMIT_PURCHASE: "many",
    VESTIBULE_LIMITS: "10/1s",
  });
  const names = new Set(told.map((line) => /^[A-Z_]+/.exec(line)?.[0]));
  expect(told).toHaveLength(names.size);
  expect(names).toEqual(
    new Set([
      "INVENTORY_GATE_ENABLED",
      "TRUST_PROXY_HOPS",
      "VALKEY_DEADLINE_MS",
      "VALKEY_URL",
      "VESTIBULE_CREDIT_KEY",
      "VESTIBULE_IDENTITY_SECRET",
      "VESTIBULE_LIMITS",
      "VESTIBULE_LIMIT_PURCHASE",
      "VESTIBULE_PORT",
      "VESTIBULE_SHOP_TOKEN",
      "VESTIBULE_SUPPLY_TOKEN",
    ]),
  );
});

import { inspect } from "node:util";
import { expect, test } from "vitest";
import {
  ConfigError,
  flag,
  httpBase,
  json,
  list,
  oneOf,
  optional,
  optionalSecret,
  port,
  postgresUrl,
  readConfig,
  required,
  requiredSecret,
  secret,
  text,
  wholeNumber,
} from "../src/env.ts";

const VARIABLES = {
  port: required("VESTIBULE_PORT", port()),
  host: optional("VESTIBULE_HOST", text({ charsMax: 255 }), "127.0.0.1"),
  limit: optional("VESTIBULE_LIMIT", wholeNumber({ min: 1, max: 100 }), 10),
  adminToken: requiredSecret("VESTIBULE_ADMIN_TOKEN", secret({ charsMin: 32 })),
  mode: optional("VESTIBULE_MODE", oneOf(["calm", "busy"]), "calm"),
  mints: optional("VESTIBULE_MINT_URLS", list(httpBase(), { max: 3 }), []),
  extra: optional("VESTIBULE_JWKS", json(), undefined),
};
const TOKEN = "t".repeat(32);
const GOOD = { VESTIBULE_PORT: "8787", VESTIBULE_ADMIN_TOKEN: TOKEN, PATH: "/bin", HOME: "/" };

const mistakesOf = (
  environment: Record<string, string>,
  readFile?: (path: string) => string,
): readonly string[] => {
  try {
    readConfig(VARIABLES, environment, readFile);
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes;
    throw error;
  }
  return [];
};

test("a good environment becomes a frozen configuration with defaults", () => {
  const config = readConfig(VARIABLES, { ...GOOD, VESTIBULE_MINT_URLS: "http://a:1, https://b" });
  expect(config).toMatchObject({
    port: 8_787,
    host: "127.0.0.1",
    limit: 10,
    mode: "calm",
    mints: ["http://a:1", "https://b"],
    extra: undefined,
  });
  expect(Object.isFrozen(config)).toBe(true);
});

test.each([
  "0",
  "-1",
  "NaN",
  "",
  " 5",
  "5 ",
  "5e1",
  "1e309",
  "1e-9",
  "9007199254740992",
  "null",
  "05",
  "+5",
  "5.0",
  "0x5",
  "101",
])("a number given as %j is refused by name, and its value is not repeated", (value) => {
  const mistakes = mistakesOf({ ...GOOD, VESTIBULE_LIMIT: value });
  expect(mistakes).toHaveLength(1);
  expect(mistakes[0]).toMatch(/^VESTIBULE_LIMIT: must /);
  if (value.length > 3) expect(mistakes[0]).not.toContain(value);
});

test("all mistakes are told at once, unknown variables of ours among them", () => {
  const mistakes = mistakesOf({
    VESTIBULE_PORT: "70000",
    VESTIBULE_HOST: "",
    VESTIBULE_ADMIN_TOKEN: "short",
    VESTIBULE_MODE: "wild",
    VESTIBULE_MINT_URLS: "ftp://x",
    VESTIBULE_JWKS: "{",
    VESTIBULE_POTR: "1",
  });
  const names = mistakes.map((mistake) => /VESTIBULE_\w+/.exec(mistake)?.[0]);
  expect(new Set(names)).toEqual(
    new Set(
      ["PORT", "HOST", "ADMIN_TOKEN", "MODE", "MINT_URLS", "JWKS", "POTR"].map(
        (n) => `VESTIBULE_${n}`,
      ),
    ),
  );
  expect(mistakes.join()).not.toMatch(/short|wild|70000|ftp/);
});

test.each([
  "http://a/",
  "http://a?x",
  "http://u:p@a",
  "http://a#b",
  "a",
  "//a",
  "http://",
  "http://a,",
])("a base URL given as %j is refused", (value) => {
  expect(mistakesOf({ ...GOOD, VESTIBULE_MINT_URLS: value })).toHaveLength(1);
});

test("a secret has no default, may come from a file, and never from two places", () => {
  expect(mistakesOf({ VESTIBULE_PORT: "1" })).toEqual([
    "VESTIBULE_ADMIN_TOKEN or VESTIBULE_ADMIN_TOKEN_FILE is required",
  ]);
  const fromFile = { VESTIBULE_PORT: "1", VESTIBULE_ADMIN_TOKEN_FILE: "/run/token" };
  const config = readConfig(VARIABLES, fromFile, (path) =>
    path === "/run/token" ? `${TOKEN}\n` : "",
  );
  expect(config.adminToken.reveal()).toBe(TOKEN);
  expect(mistakesOf({ ...GOOD, ...fromFile })).toEqual([
    "set VESTIBULE_ADMIN_TOKEN or VESTIBULE_ADMIN_TOKEN_FILE, not both",
  ]);
  const missing = (): string => {
    throw new Error("ENOENT: /run/token");
  };
  expect(mistakesOf(fromFile, missing)).toEqual([
    "VESTIBULE_ADMIN_TOKEN_FILE names a file that cannot be read",
  ]);
  const absent = { VESTIBULE_PORT: "1", VESTIBULE_ADMIN_TOKEN_FILE: "/nowhere/at-all" };
  expect(mistakesOf(absent)).toEqual([
    "VESTIBULE_ADMIN_TOKEN_FILE names a file that cannot be read (ENOENT: there is no such file)",
  ]);
  expect(mistakesOf(fromFile, () => "short")).toEqual([
    expect.stringMatching(/^VESTIBULE_ADMIN_TOKEN_FILE: must have at least/),
  ]);
});

test("a secret shows itself in no text, JSON or inspection", () => {
  const variables = { url: requiredSecret("VESTIBULE_DATABASE_URL", postgresUrl()) };
  const config = readConfig(variables, { VESTIBULE_DATABASE_URL: "postgres://u:hunter2@h/d" });
  expect(config.url.reveal()).toContain("hunter2");
  for (const shown of [
    config.url.toString(),
    JSON.stringify(config),
    inspect(config, { depth: 9, showHidden: true }),
  ]) {
    expect(shown).not.toContain("hunter2");
  }
  expect(() => readConfig(variables, { VESTIBULE_DATABASE_URL: "mysql://u:hunter2@h/d" })).toThrow(
    /^((?!hunter2)[^])*$/,
  );
});

test("a flag is true or false, and a secret that may be absent is absent", () => {
  const variables = {
    on: optional("VESTIBULE_ON", flag(), true),
    key: optionalSecret("VESTIBULE_KEY", secret({ charsMin: 32 })),
  };
  expect(readConfig(variables, {})).toEqual({ on: true, key: undefined });
  expect(readConfig(variables, { VESTIBULE_ON: "false" }).on).toBe(false);
  for (const value of ["", "0", "1", "no", "TRUE", "true "]) {
    expect(() => readConfig(variables, { VESTIBULE_ON: value })).toThrow(/VESTIBULE_ON: must be/);
  }
  const fromFile = readConfig(variables, { VESTIBULE_KEY_FILE: "/run/key" }, () => TOKEN);
  expect(fromFile.key?.reveal()).toBe(TOKEN);
  expect(() => readConfig(variables, { VESTIBULE_KEY: "short" })).toThrow(/at least 32/);
});

test("what must hold between settings is told with all other mistakes", () => {
  const seen: unknown[] = [];
  const noFile = () => "";
  const crossCheck = (config: object): string[] => {
    seen.push({ ...config });
    return "port" in config ? ["VESTIBULE_LIMIT does not fit VESTIBULE_PORT"] : [];
  };
  expect(() =>
    readConfig(VARIABLES, { ...GOOD, VESTIBULE_MODE: "wild" }, noFile, crossCheck),
  ).toThrow(/VESTIBULE_MODE: must be [^]*VESTIBULE_LIMIT does not fit/);
  // A setting that could not be read is absent; one with a default has it.
  expect(seen).toEqual([expect.not.objectContaining({ mode: expect.anything() as unknown })]);
  expect(seen).toEqual([expect.objectContaining({ port: 8_787, limit: 10 })]);
  expect(() => readConfig(VARIABLES, { ...GOOD, VESTIBULE_PORT: "x" }, noFile, crossCheck)).toThrow(
    /^((?!does not fit)[^])*$/,
  );
});

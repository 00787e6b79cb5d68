import { expect, test } from "vitest";
import { type EdgeEnv, readConfig } from "../src/config.ts";

const ENV: EdgeEnv = {
  MINT_URLS: "https://mint.example",
  ORIGIN_URL: "https://origin.example",
  ISSUER: "https://mint.example",
};

const originOf = (env: EdgeEnv): unknown => {
  const read = readConfig({ ...ENV, ...env });
  return read.ok ? [read.value.originHost, read.value.knownHeaders] : read.refusal;
};

test("the origin is asked under its own host and told in the usual headers, unless it is said otherwise", () => {
  const usual = ["x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"];
  expect(originOf({})).toEqual(["origin", usual]);
  expect(originOf({ ORIGIN_HOST: "", FORWARDED_HEADERS: " " })).toEqual(["origin", usual]);
  expect(originOf({ ORIGIN_HOST: "visitor", FORWARDED_HEADERS: "none" })).toEqual(["visitor", []]);
  expect(originOf({ FORWARDED_HEADERS: "Forwarded, X-Real-IP forwarded" })).toEqual([
    "origin",
    ["forwarded", "x-real-ip"],
  ]);
});

test("every mistake is named at once, and no value is repeated", () => {
  const read = readConfig({
    ...{ ORIGIN_HOST: "shop.example", FORWARDED_HEADERS: "x-forwarded-for, cookie" },
    ...{ ORIGIN_DEADLINE_MS: "soon", SKEW_SECONDS: 99, TRUST_CLIENT_ADDRESS: "Yes" },
  });
  const mistakes = read.ok ? [] : read.refusal;
  expect(mistakes.map((line) => line.split(":")[0])).toEqual([
    ...["MINT_URLS", "ORIGIN_URL", "ISSUER", "SKEW_SECONDS", "ORIGIN_DEADLINE_MS", "ORIGIN_HOST"],
    "FORWARDED_HEADERS",
    "TRUST_CLIENT_ADDRESS",
  ]);
  expect(mistakes.join()).not.toMatch(/shop\.example|cookie|soon|99|Yes/);
});

test("the client's address is trusted where somebody says so, and nowhere else", () => {
  const trusts = (env: EdgeEnv) => {
    const read = readConfig({ ...ENV, ...env });
    return read.ok && read.value.trustsClientAddress;
  };
  const said = [undefined, "", "no", "yes"].map((value) =>
    trusts(value === undefined ? {} : { TRUST_CLIENT_ADDRESS: value }),
  );
  expect(said).toEqual([false, false, false, true]);
});

test.each([
  "https://user@mint.example",
  "https://:secret@mint.example",
  "https://a:b@mint.example",
])("an address with a name or a password is none, for addresses are in the log: %s", (url) => {
  const read = readConfig({ ...ENV, MINT_URLS: url });
  expect(read.ok ? [] : read.refusal.map((line) => line.split(":")[0])).toEqual(["MINT_URLS"]);
});

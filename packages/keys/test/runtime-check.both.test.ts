import { runtimeVerifies } from "@vestibule/keys/runtime-check";
import { subtle } from "@vestibule/keys/webcrypto";
import { expect, test } from "vitest";

test("this runtime verifies Ed25519", async () => {
  expect(await runtimeVerifies()).toBe(true);
});

const importKey: typeof subtle.importKey = subtle.importKey.bind(subtle);

test.each<[string, typeof subtle.verify]>([
  ["raises", () => Promise.reject(new Error("not supported"))],
  ["finds nothing genuine", () => Promise.resolve(false)],
  ["finds everything genuine", () => Promise.resolve(true)],
])("KR-09: a runtime whose verify %s is found out", async (_name, verify) => {
  expect(await runtimeVerifies({ importKey, verify })).toBe(false);
});

test("KR-09: a runtime that does not know the algorithm is found out", async () => {
  const unsupported = () => Promise.reject(new Error("not supported"));
  const verify: typeof subtle.verify = subtle.verify.bind(subtle);
  expect(await runtimeVerifies({ importKey: unsupported, verify })).toBe(false);
});

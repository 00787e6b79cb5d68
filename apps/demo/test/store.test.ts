/** Which store a start takes, without one that works. Real ones: test/e2e/start.test.ts. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { RunLock } from "../src/run-lock.ts";
import type { StoreOptions } from "../src/store-port.ts";
import { openStore } from "../src/store.ts";
import { Supervisor } from "../src/supervisor.ts";

let directory: string;
let supervisor: Supervisor;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "vestibule-store-"));
  const { lock } = await RunLock.take(join(directory, "running.json"), directory);
  supervisor = new Supervisor({ logs: directory, lock });
});
afterEach(async () => {
  await supervisor.stop();
  rmSync(directory, { recursive: true, force: true });
});

const options = (more: Partial<StoreOptions> = {}): StoreOptions => ({
  given: undefined,
  path: directory,
  password: "word",
  directory,
  logs: directory,
  portBase: 8_787,
  supervisor,
  signal: new AbortController().signal,
  say: () => {},
  ...more,
});

/** Says that it is a Redis, and does `then` instead of being one. */
function fakeServer(then: string): void {
  const file = join(directory, "redis-server");
  const words = "Redis server v=7.0.15 sha=0";
  writeFileSync(
    file,
    `#!/bin/sh\nif [ "$1" = --version ]; then echo "${words}"; exit 0; fi\n${then}\n`,
  );
  chmodSync(file, 0o755);
}

test.each([undefined, ""])("without any (VALKEY_URL %j) the purchase API counts", async (given) => {
  const store = await openStore(options({ given }));
  expect(store.url).toBeUndefined();
  expect(store.note).toBeUndefined();
  expect(store.trouble()).toBeUndefined();
});

test("a server that does not start is told, with where its words are, and the sale starts without it", async () => {
  fakeServer('echo "fatal: no"; exit 1');
  const store = await openStore(options());
  expect(store.url).toBeUndefined();
  expect(store.note).toContain(join(directory, "redis.log"));
  // Nor is it the end of the sale that it ended.
  await expect(Promise.race([supervisor.failed, Promise.resolve("fine")])).resolves.toBe("fine");
});

test("an address that is none is refused without being repeated", async () => {
  const given = "redis://:s3cret@";
  await expect(openStore(options({ given }))).rejects.toThrow(/VALKEY_URL is not understood/);
  await expect(openStore(options({ given }))).rejects.not.toThrow(/s3cret/);
});

test("a stop while nobody answers is heard", async () => {
  const stop = new AbortController();
  const opening = openStore(options({ given: "/nowhere/valkey.sock", signal: stop.signal }));
  stop.abort(new Error("stopped"));
  await expect(opening).rejects.toThrow("stopped");
});

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { programOf, storeConfig, storePrograms } from "../src/store-program.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "vestibule-programs-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function program(name: string, words: string, mode = 0o755): void {
  writeFileSync(join(directory, name), `#!/bin/sh\necho "${words}"\n`);
  chmodSync(join(directory, name), mode);
}

test.each([
  ["/usr/bin/redis-server", "Redis server v=7.0.15 sha=0:0 bits=64", "Redis", "7.0.15"],
  ["/usr/bin/valkey-server", "Valkey server v=8.0.1 sha=0:0 bits=64", "Valkey", "8.0.1"],
  ["/usr/bin/valkey-server", "Server v=7.2.5 sha=0:0", "Valkey", "7.2.5"],
  // Some systems call their Valkey redis-server.
  ["/usr/bin/redis-server", "Valkey server v=8.0.1 sha=0:0", "Valkey", "8.0.1"],
])("%s that says %s", (path, words, family, version) => {
  expect(programOf(path, words)).toEqual({ path, family, version });
});

test("what says nothing of a version is none", () => {
  expect(programOf("/usr/bin/redis-server", "not today")).toBeUndefined();
});

test("Valkey comes before Redis; what is too old, may not be run, or is no program is passed over", () => {
  const names = (): readonly string[] =>
    storePrograms(`:/nowhere:${directory}`).map(({ family, version }) => `${family} ${version}`);
  expect(names()).toEqual([]);
  program("redis-server", "Redis server v=7.0.15 sha=0");
  expect(names()).toEqual(["Redis 7.0.15"]);
  program("valkey-server", "Valkey server v=8.0.1 sha=0");
  expect(names()).toEqual(["Valkey 8.0.1", "Redis 7.0.15"]);
  program("redis-server", "Redis server v=6.2.14 sha=0");
  expect(names()).toEqual(["Valkey 8.0.1"]);
  program("redis-server", "Redis server v=7.0.15 sha=0");
  program("valkey-server", "Server v=7.2.5 sha=0");
  expect(names()).toEqual(["Redis 7.0.15"]);
  rmSync(join(directory, "valkey-server"));
  mkdirSync(join(directory, "valkey-server"));
  program("redis-server", "Redis server v=7.0.15 sha=0", 0o644);
  expect(names()).toEqual([]);
});

test("the configuration keeps to this machine, asks for the password, forgets everything and evicts nothing", () => {
  const lines = storeConfig({ port: 1234, password: "word" }).split("\n");
  for (const line of [
    "bind 127.0.0.1",
    "port 1234",
    "requirepass word",
    'save ""',
    "appendonly no",
    "maxmemory-policy noeviction",
  ]) {
    expect(lines).toContain(line);
  }
  expect(lines.some((line) => /^maxmemory \d+mb$/.test(line))).toBe(true);
});

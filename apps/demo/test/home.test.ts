import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { importPrivateJwk } from "@vestibule/keys/signing-key";
import { afterEach, beforeEach, expect, test } from "vitest";

import {
  emptyHome,
  type Home,
  homeAt,
  mayBeEmptied,
  openHome,
  readSale,
  readSecrets,
  writeSale,
} from "../src/home.ts";
import { identityOf, isAlive } from "../src/process-identity.ts";
import { RunLock } from "../src/run-lock.ts";

let directory: string;
let home: Home;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "vestibule-home-"));
  home = homeAt(join(directory, "data"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test("secrets are made once, and only their owner reads them", async () => {
  openHome(home);
  const secrets = await readSecrets(home);
  expect(await readSecrets(home)).toEqual(secrets);
  for (const file of [home.secretsFile, home.adminTokenFile])
    expect(statSync(file).mode & 0o077).toBe(0);
  expect(readFileSync(home.adminTokenFile, "utf8")).toBe(`${secrets.adminToken}\n`);
  expect(new Set(Object.values(secrets)).size).toBe(9);
  expect(Buffer.from(secrets.kek, "base64url").length).toBe(32);
  expect(secrets.adminToken.length).toBeGreaterThanOrEqual(32);
});

test("an older start knew fewer secrets: what it made stays, what is missing is made and kept", async () => {
  openHome(home);
  const old = { databasePassword: "p".repeat(43), adminToken: "a".repeat(43), kek: "k".repeat(43) };
  writeFileSync(home.secretsFile, JSON.stringify(old), { mode: 0o600 });
  const secrets = await readSecrets(home);
  expect(secrets).toMatchObject(old);
  for (const name of [
    "shopToken",
    "supplyToken",
    "metricsToken",
    "identitySecret",
    "storePassword",
  ] as const) {
    expect(secrets[name].length).toBeGreaterThanOrEqual(32);
  }
  expect(await readSecrets(home)).toEqual(secrets);
});

test("the key that signs credits is one that our own packages take", async () => {
  openHome(home);
  const { creditKey } = await readSecrets(home);
  expect(await importPrivateJwk(JSON.parse(creditKey))).toMatchObject({ ok: true });
});

test("what is remembered of the sale is there at the next start", () => {
  openHome(home);
  expect(readSale(home)).toBeUndefined();
  const sale = { event: "demo", count: 1, portBase: 1, lifetimeSeconds: 2, horizonSeconds: 3 };
  writeSale(home, sale);
  openHome(home);
  expect(readSale(home)).toEqual(sale);
});

test("a directory with other things in it is neither used nor emptied", () => {
  const foreign = homeAt(directory);
  writeFileSync(join(directory, "thesis.txt"), "years of work");
  expect(() => openHome(foreign)).toThrow(/holds other things.*--data/);
  expect(mayBeEmptied(foreign)).toBe(false);
  expect(readFileSync(join(directory, "thesis.txt"), "utf8")).toBe("years of work");
});

test("a reset removes what is ours and leaves what is not", async () => {
  openHome(home);
  await readSecrets(home);
  writeFileSync(join(home.directory, "note.txt"), "mine");
  expect(mayBeEmptied(home)).toBe(true);
  emptyHome(home);
  for (const file of [home.secretsFile, home.adminTokenFile]) expect(existsSync(file)).toBe(false);
  expect(existsSync(join(home.directory, "note.txt"))).toBe(true);
});

test("data of another version are refused with what to do", () => {
  openHome(home);
  writeFileSync(join(home.directory, "vestibule.json"), '{"format":99}');
  expect(() => openHome(home)).toThrow(/another version.*--data.*--reset/);
  expect(mayBeEmptied(home)).toBe(true);
});

test("data in use are not used twice, and are free again afterwards", async () => {
  openHome(home);
  const { lock } = await RunLock.take(home.lock, home.directory);
  await expect(RunLock.take(home.lock, home.directory)).rejects.toThrow(/runs already.*--data/);
  lock.release();
  const again = await RunLock.take(home.lock, home.directory);
  expect(again.leftOver).toBeUndefined();
  again.lock.release();
});

test("a lock of a process that is gone is taken over, with the list of what it had started", async () => {
  openHome(home);
  // The number lives, but the process that wrote it began at another time.
  const gone = { pid: process.pid, began: "long ago" };
  const child = { pid: 1, began: "never", name: "mint", stopSignal: "SIGTERM" };
  writeFileSync(home.lock, JSON.stringify({ launcher: gone, children: [child] }));
  const { lock, leftOver } = await RunLock.take(home.lock, home.directory);
  expect(leftOver?.children).toEqual([child]);
  lock.release();
});

test("of many that find one stale lock, exactly one gets it", async () => {
  openHome(home);
  writeFileSync(home.lock, "half a fi");
  const takes = Array.from({ length: 10 }, () => RunLock.take(home.lock, home.directory));
  const settled = await Promise.allSettled(takes);
  expect(settled.filter(({ status }) => status === "fulfilled").length).toBe(1);
});

test("a process is known by its beginning, not by its number alone", () => {
  const self = identityOf(process.pid);
  expect(self && isAlive(self)).toBe(true);
  expect(isAlive({ pid: process.pid, began: "another" })).toBe(false);
  expect(identityOf(2 ** 22 + 1)).toBeUndefined();
});

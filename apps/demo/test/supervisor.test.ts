import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { RunLock } from "../src/run-lock.ts";
import { type Part, type PartCommand, Supervisor } from "../src/supervisor.ts";

let directory: string;
let supervisor: Supervisor;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "vestibule-supervisor-"));
  const { lock } = await RunLock.take(join(directory, "running.json"), directory);
  supervisor = new Supervisor({ logs: directory, lock });
});
afterEach(async () => {
  await supervisor.stop();
  rmSync(directory, { recursive: true, force: true });
});

const script = (text: string, more: Partial<PartCommand> = {}): PartCommand => ({
  name: "part",
  command: "/bin/sh",
  args: ["-c", text],
  cwd: directory,
  env: { PATH: process.env["PATH"] ?? "" },
  stopSignal: "SIGTERM",
  stopTimeoutMs: 2_000,
  ...more,
});

test("a part that the sale needs and that ends is the end of the sale, in its own words", async () => {
  await supervisor.start(script("echo error: no more; exit 3"));
  await expect(supervisor.failed).rejects.toThrow(/part ended unexpectedly.*3[^]*no more/);
});

test("a part without which the sale goes on is told of instead, and may be started again", async () => {
  const ended: Part[] = [];
  const onEnd = (part: Part): void => void ended.push(part);
  const failed = vi.fn<() => void>();
  supervisor.failed.catch(failed);
  await supervisor.start(script("echo first; exit 1", { onEnd }));
  await vi.waitFor(() => expect(ended.map(({ end }) => end)).toEqual(["exit code 1"]));
  const again = await supervisor.start(script("echo second; kill -9 $$", { onEnd }));
  await again.ended;
  await vi.waitFor(() => expect(ended.map(({ end }) => end)).toEqual(["exit code 1", "SIGKILL"]));
  expect(failed).not.toHaveBeenCalled();
  // Both lives are in one log.
  await vi.waitFor(() =>
    expect(readFileSync(join(directory, "part.log"), "utf8")).toBe("first\nsecond\n"),
  );
});

test("a stop is no such end", async () => {
  const onEnd = vi.fn<(part: Part) => void>();
  await supervisor.start(script("exec sleep 60", { onEnd }));
  await supervisor.stop();
  expect(onEnd).not.toHaveBeenCalled();
});

test("input reaches the part, and its end is the end of what it reads", async () => {
  const part = await supervisor.start(
    script("cat; exit 0", { input: "secret\n", onEnd: () => {} }),
  );
  await part.ended;
  expect(part.tail).toBe("secret\n");
});

test("input that nobody reads is no error", async () => {
  const part = await supervisor.start(
    script("exit 0", { input: "x".repeat(1_000_000), onEnd: () => {} }),
  );
  await part.ended;
  expect(part.end).toBe("exit code 0");
});

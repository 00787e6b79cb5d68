import { expect, test } from "vitest";
import { AppError } from "@vestibule/kernel/app-error";
import { FakeClock } from "@vestibule/testkit/fake-clock";
import { type ProcessPort, stopOnSignals } from "../src/lifecycle.ts";
import { createLog, silentLog } from "../src/log.ts";
import { Secret } from "../src/secret.ts";

test("a log line is one JSON object with time, level, service and what was bound", () => {
  const lines: string[] = [];
  const log = createLog({
    service: "mint",
    clock: new FakeClock(),
    write: (line) => lines.push(line),
  });
  log
    .with({ requestId: "r1" })
    .info("joined", { number: 7, text: "a\nb", big: 5n, token: new Secret("x9x") });
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toMatch(/\n|x9x/);
  expect(JSON.parse(lines[0] ?? "")).toEqual({
    time: "2026-01-01T00:00:00.000Z",
    level: "info",
    service: "mint",
    msg: "joined",
    requestId: "r1",
    number: 7,
    text: "a\nb",
    big: "5",
    token: "[secret]",
  });
});

test("an error is logged with its causes and internal text, without its other members", () => {
  const lines: string[] = [];
  const log = createLog({
    service: "mint",
    clock: new FakeClock(),
    write: (line) => lines.push(line),
  });
  const cause = Object.assign(new Error("query failed"), {
    code: "57014",
    parameters: ["hunter2"],
  });
  log.error("failed", new AppError("unavailable", { internal: "database", cause }));
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;
  log.info("odd", circular);
  log.error("text", "just a text");
  expect(lines).toHaveLength(3);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    error: { message: "database", code: "unavailable", cause: { code: "57014" } },
  });
  expect(lines[0]).not.toContain("hunter2");
  expect(JSON.parse(lines[1] ?? "")).toMatchObject({ msg: "odd", fields: "not serializable" });
});

test("a line keeps its own name, whatever its fields are called, and `event` is the sale", () => {
  const lines: string[] = [];
  const clock = new FakeClock();
  const log = createLog({ service: "purchase", clock, write: (line) => lines.push(line) });
  const of = { event: "spring", sku: "seat" };
  log.info("inventory reconciliation", { ...of, before: 3, after: 2 });
  log.with(of).error("supply-look-failed", new Error("no"));
  // @ts-expect-error fields never have the name of what a line says of itself
  log.warn("admission-refused", { ...of, msg: "other" });
  const spoilt: object = { msg: "other", level: "debug", service: "other", time: 0 };
  log.with({ ...spoilt }).warn("admission-refused", { ...of, ...spoilt });
  const heads = lines.map((line) => {
    const { time, level, service, msg, event } = JSON.parse(line) as Record<string, unknown>;
    return { time, level, service, msg, event };
  });
  const own = { time: "2026-01-01T00:00:00.000Z", service: "purchase", event: "spring" };
  expect(heads).toEqual([
    { ...own, level: "info", msg: "inventory reconciliation" },
    { ...own, level: "error", msg: "supply-look-failed" },
    { ...own, level: "warn", msg: "admission-refused" },
    { ...own, level: "warn", msg: "admission-refused" },
  ]);
  expect(lines[0]).toMatch(/^\{"time":"[^"]+","level":"info","service":"purchase","msg":"inv/);
  expect(lines[3]?.match(/"msg"/g)).toHaveLength(1);
});

function fakeProcess(): ProcessPort & { signal(name: string): void; readonly exits: number[] } {
  const listeners = new Map<string, () => void>();
  const exits: number[] = [];
  return {
    on: (signal, listener) => listeners.set(signal, listener),
    exit: (code) => {
      exits.push(code);
      return undefined as never;
    },
    signal: (name) => listeners.get(name)?.(),
    exits,
  };
}

test("a signal stops once and exits with 0; a failed or late stop exits with 1", async () => {
  for (const [stop, code] of [
    [() => Promise.resolve(), 0],
    [() => Promise.reject(new Error("no")), 1],
    [() => new Promise<void>(() => {}), 1],
  ] as const) {
    const process = fakeProcess();
    stopOnSignals({ process, log: silentLog, stop, stopMsMax: 50 });
    process.signal("SIGTERM");
    await expect.poll(() => process.exits).toEqual([code]);
  }
});

test("the second signal does not wait", () => {
  const process = fakeProcess();
  stopOnSignals({ process, log: silentLog, stop: () => new Promise(() => {}), stopMsMax: 60_000 });
  process.signal("SIGINT");
  process.signal("SIGINT");
  expect(process.exits).toEqual([1]);
});

import { FakeClock } from "@vestibule/testkit/fake-clock";
import { createMemoryTokenBucket } from "@vestibule/valkey/memory-token-bucket";
import { createLog } from "@vestibule/service/log";
import { expect, test } from "vitest";
import { EdgeAlarms } from "../src/edges/edge-alarms.ts";
import type { AlarmChange } from "../src/edges/edge-table.ts";
import { CLOCK_LOG_SENDER_LIMIT, CLOCK_LOG_TOTAL_LIMIT } from "../src/limits.ts";

function alarms() {
  const clock = new FakeClock();
  const lines: string[] = [];
  const log = createLog({ service: "mint", clock, write: (line) => void lines.push(line) });
  const made = new EdgeAlarms({
    log,
    bucket: createMemoryTokenBucket(clock),
    limits: { sender: CLOCK_LOG_SENDER_LIMIT, total: CLOCK_LOG_TOTAL_LIMIT },
  });
  return { clock, lines, alarms: made };
}

function change(alarm: AlarmChange["alarm"], sender = "aaaaaaaaaaaa"): AlarmChange {
  const estimate = { offsetMs: 6_000, uncertaintyMs: 10 };
  return {
    row: { location: "fra", sender, state: "wrong", estimate, skewSeconds: 5, reportedAt: 0 },
    alarm,
    before: "good",
  };
}

test("each change of an alarm has its line: off, wrong, good again", async () => {
  const { alarms: made, lines } = alarms();
  for (const alarm of ["warn", "wrong", "good"] as const) await made.say(change(alarm));
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: "warn", msg: "edge-clock-off", location: "fra", offsetMs: 6_000, skewSeconds: 5 },
    { level: "warn", msg: "edge-clock-wrong", uncertaintyMs: 10 },
    { level: "info", msg: "edge-clock-good" },
  ]);
});

test("one sender does not flood the log, and keeps nobody else's line out of it; what was not said is counted", async () => {
  const { alarms: made, lines, clock } = alarms();
  for (let index = 0; index < 1_000; index += 1)
    await made.say(change(index % 2 === 0 ? "wrong" : "good"));
  expect(lines).toHaveLength(CLOCK_LOG_SENDER_LIMIT.capacity);
  await made.say(change("wrong", "bbbbbbbbbbbb"));
  expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ sender: "bbbbbbbbbbbb", unsaid: 992 });
  clock.advance(CLOCK_LOG_SENDER_LIMIT.refillMs);
  await made.say(change("good"));
  expect(JSON.parse(lines.at(-1) ?? "")).not.toHaveProperty("unsaid");
});

test("any number of senders write a bounded number of lines an hour", async () => {
  const { alarms: made, lines, clock } = alarms();
  for (let second = 0; second < 3_600; second += 1) {
    for (let index = 0; index < 3; index += 1)
      await made.say(change("wrong", `sender-${(second * 3 + index) % 500}`));
    await made.sayFull(second);
    clock.advance(1_000);
  }
  const { capacity, refillMs } = CLOCK_LOG_TOTAL_LIMIT;
  expect(lines.length).toBeLessThanOrEqual(capacity + 3_600_000 / refillMs);
  expect(lines.length).toBeGreaterThan(capacity);
});

test("a full table has a line of its own", async () => {
  const { alarms: made, lines } = alarms();
  for (let turnedAway = 1; turnedAway <= 100; turnedAway += 1) await made.sayFull(turnedAway);
  expect(lines).toHaveLength(CLOCK_LOG_SENDER_LIMIT.capacity);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ msg: "edges-turned-away", turnedAway: 1 });
});

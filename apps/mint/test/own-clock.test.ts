import { AppError } from "@vestibule/kernel/app-error";
import { createLog } from "@vestibule/service/log";
import { FakeClock } from "@vestibule/testkit/fake-clock";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { OwnClock } from "../src/edges/own-clock.ts";
import { CLOCK_LOOK_EVERY_MS } from "../src/limits.ts";
import { HandTimers } from "./support/hand-timers.ts";

/** A mint's clock beside a database whose clock is `offMs` behind it, each way of whose answers takes so long. */
function watched() {
  const clock = new FakeClock();
  const timers = new HandTimers(clock);
  const lines: Record<string, unknown>[] = [];
  const log = createLog({
    service: "mint",
    clock,
    write: (line) => void lines.push(JSON.parse(line)),
  });
  const database = { offMs: 0, wayMs: 1, wayBackMs: 1, away: false, asked: 0 };
  const own = new OwnClock({
    ...{ clock, timers, log },
    skewSeconds: 5,
    ask: async () => {
      database.asked += 1;
      if (database.away) throw new AppError("unavailable");
      clock.advance(database.wayMs);
      const theirs = clock.now() - database.offMs;
      clock.advance(database.wayBackMs);
      return theirs;
    },
  });
  return { clock, timers, lines, database, own };
}

describe("the mint's clock beside PostgreSQL's", () => {
  test("the true offset is within the uncertainty, however slow either way is", async () => {
    const ms = fc.integer({ min: 0, max: 1_000 });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: -700_000, max: 700_000 }),
        ms,
        ms,
        async (offMs, wayMs, wayBackMs) => {
          const { own, database } = watched();
          Object.assign(database, { offMs, wayMs, wayBackMs });
          await own.look();
          const { offsetMs, uncertaintyMs } = own.estimate!;
          expect(Math.abs(offsetMs - offMs)).toBeLessThanOrEqual(uncertaintyMs);
          expect(uncertaintyMs).toBeLessThanOrEqual((wayMs + wayBackMs) / 2 + 5);
        },
      ),
    );
  });

  test("is not known before the first look, good within the tolerance, and has one line for each change", async () => {
    const { own, database, lines } = watched();
    expect(own.state).toBe("unknown");
    for (const offMs of [0, 100, 3_000, 3_100, 6_000, -6_000, -3_000, 0, 0]) {
      database.offMs = offMs;
      await own.look();
    }
    expect(lines.map(({ level, msg }) => `${String(level)} ${String(msg)}`)).toEqual([
      "warn mint-clock-off",
      "error mint-clock-wrong",
      "warn mint-clock-off",
      "info mint-clock-good",
    ]);
    expect(lines[1]).toMatchObject({ offsetMs: 6_000, skewSeconds: 5 });
  });

  test("a clock that is ten minutes off in either direction is called wrong", async () => {
    for (const offMs of [-600_000, 600_000]) {
      const { own, database } = watched();
      database.offMs = offMs;
      await own.look();
      expect(own.state).toBe("wrong");
    }
  });

  test("PostgreSQL away is not known, without a line, and what was said before is not said again", async () => {
    const { own, database, lines } = watched();
    database.offMs = 6_000;
    await own.look();
    expect(lines).toHaveLength(1);
    for (let round = 0; round < 100; round += 1) {
      database.away = true;
      await own.look();
      expect(own.state).toBe("unknown");
      expect(own.estimate).toBeUndefined();
      database.away = false;
      await own.look();
      expect(own.state).toBe("wrong");
    }
    expect(lines).toHaveLength(1);
  });

  test("an answer that took longer than a round trip may says nothing", async () => {
    const { own, database, lines } = watched();
    Object.assign(database, { offMs: 60_000, wayMs: 1, wayBackMs: 4_000 });
    await own.look();
    expect(own.state).toBe("unknown");
    expect(lines).toEqual([]);
  });

  test("what was measured is worth less as time goes by, and nothing in the end", async () => {
    const { own, clock } = watched();
    await own.look();
    const before = own.estimate?.uncertaintyMs ?? Infinity;
    clock.advance(60_000);
    expect(own.estimate?.uncertaintyMs).toBeGreaterThan(before);
    clock.advance(86_400_000);
    expect(own.state).toBe("unknown");
  });
});

test("it looks at once and then every ten seconds, one look after the other, until it is stopped", async () => {
  const { own, database, clock, timers } = watched();
  own.start();
  await vi.waitFor(() => expect(timers.nextIn()).toBeDefined(), { timeout: 20_000 });
  for (let look = 1; look <= 5; look += 1) {
    expect(database.asked).toBe(look);
    const wait = timers.nextIn();
    expect(wait).toBe(CLOCK_LOOK_EVERY_MS);
    clock.advance(CLOCK_LOOK_EVERY_MS);
    timers.fire();
    await vi.waitFor(() => expect(timers.nextIn()).toBeDefined(), { timeout: 20_000 });
  }
  await own.stop();
  clock.advance(CLOCK_LOOK_EVERY_MS);
  timers.fire();
  expect(database.asked).toBe(6);
  expect(timers.nextIn()).toBeUndefined();
});

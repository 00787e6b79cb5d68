/** Time goes on for whoever waits, whatever becomes of this device's clock, and however old the news is that comes. */
import type { Device } from "@vestibule/client/device";
import type { LineClient } from "@vestibule/client/line-client";
import type { View } from "@vestibule/client/view";
import { Waiting } from "@vestibule/client/waiting";
import type { DripView } from "@vestibule/contracts/statements";
import { describe, expect, test } from "vitest";

const START = 1_800_000_000_000;
const MINUTE = 60_000;
const settings = {
  ...{ event: "demo", homePath: "/", lifetimeSeconds: 600, claimWindowSeconds: 180 },
  endsAt: START + 86_400_000,
};

/** A device whose clock can be set, and a line whose statements can be old. */
class World {
  /** By the mint's clock, since the start; and by how much this device's is ahead of it. */
  ms = 0;
  clockMs = 0;
  /** The device's ticks stand still while it sleeps. */
  sleptMs = 0;
  /** Since when locations have no newer statement. */
  mintAwayAt: number | undefined;
  rate = 60;
  /** Statements are on their way for so long. */
  wayMs = 0;
  readonly views: View[] = [];
  readonly waiting: Waiting;
  #timers: { readonly id: number; readonly at: number; readonly work: () => void }[] = [];
  #ids = 0;

  constructor(number: number) {
    const device: Device = {
      now: () => START + this.ms + this.clockMs,
      ticks: () => this.ms - this.sleptMs,
      random: () => 0.5,
      startTimer: (work, delayMs) => {
        this.#ids += 1;
        this.#timers.push({ id: this.#ids, at: this.ms + delayMs, work });
        return this.#ids;
      },
      stopTimer: (timer) => {
        this.#timers = this.#timers.filter(({ id }) => id !== timer);
      },
      isHidden: () => false,
      isOnline: () => true,
    };
    const never = () => Promise.resolve({ ok: false, status: 425, retryAfterMs: 60_000 } as const);
    const line: LineClient = {
      drip: async () => {
        const body = this.#statement();
        if (this.wayMs > 0) {
          await new Promise<void>((resolve) => device.startTimer(resolve, this.wayMs));
        }
        return { ok: true, body, receivedAt: device.now() };
      },
      ...{ join: never, claim: never, leave: never },
    };
    const shell = {
      show: (view: View) => void this.views.push(view),
      enter: () => true,
      ...{ tell: () => undefined, goBack: () => undefined },
    };
    this.waiting = new Waiting({ settings, number, now: START }, START, { device, line, shell });
    this.waiting.start();
  }

  get last(): View {
    return this.views.at(-1) as View;
  }

  async pass(ms: number): Promise<void> {
    const until = this.ms + ms;
    for (;;) {
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
      const [next] = this.#timers.toSorted((a, b) => a.at - b.at);
      if (next === undefined || next.at > until) break;
      this.#timers = this.#timers.filter(({ id }) => id !== next.id);
      this.ms = Math.max(this.ms, next.at);
      next.work();
    }
    this.ms = until;
  }

  sleep(ms: number): void {
    this.ms += ms;
    this.sleptMs += ms;
  }

  /** One a second from the start on, ten seconds ahead. */
  #statement(): DripView {
    const ms = Math.min(this.ms, this.mintAwayAt ?? Infinity);
    const at = START + ms;
    const committed = Math.floor(ms / 1_000) + 10;
    return {
      ...{ event: "demo", at, iat: Math.floor(at / 1000), exp: Math.floor(at / 1000) + 3_600 },
      ...{ seq: ms, state: "open", serving: Math.floor(ms / 1_000), committed, skips: [] },
      ...{ issued: 9_000, rate: this.rate, notice: "", cuts: [], endsAt: settings.endsAt },
      segments: [
        { base: 1, count: committed, from: START + 1_000, until: START + (committed + 1) * 1_000 },
      ],
    } as unknown as DripView;
  }
}

/** How far the time that is shown is from the mint's. */
const offMs = (world: World): number => world.last.now - START - world.ms;
const growths = (world: World) => world.views.flatMap(({ told }) => told?.grew ?? []);

describe("the mint is away, and statements are old", () => {
  test("whoever comes back to the tab keeps the time", async () => {
    const world = new World(4_000);
    await world.pass(MINUTE);
    world.mintAwayAt = world.ms;
    await world.pass(10 * MINUTE);
    world.waiting.wake();
    await world.pass(MINUTE);
    expect(Math.abs(offMs(world))).toBeLessThan(2_000);
  });

  test("and so does whoever has slept for longer", async () => {
    const world = new World(4_000);
    await world.pass(MINUTE);
    world.sleep(30 * MINUTE);
    world.mintAwayAt = world.ms - 5 * MINUTE;
    await world.pass(MINUTE);
    expect(Math.abs(offMs(world))).toBeLessThan(2_000);
  });
});

test.each([
  ["back", -120 * MINUTE],
  ["forwards", 120 * MINUTE],
])("a clock that is set %s changes nothing that is told", async (_way, byMs) => {
  const world = new World(4_000);
  await world.pass(5 * MINUTE);
  world.clockMs += byMs;
  await world.pass(10 * MINUTE);
  expect(Math.abs(offMs(world))).toBeLessThan(2_000);
  expect(world.last.told?.grew).toBeUndefined();
  // For a moment at most, where a clock set forwards looks like sleep.
  expect(growths(world).length).toBeLessThanOrEqual(byMs < 0 ? 0 : 2);
});

test("between two looks the line is taken to move: no wait is said to grow because nobody looked", async () => {
  const world = new World(4_000);
  await world.pass(20 * MINUTE);
  expect(growths(world)).toEqual([]);
  world.mintAwayAt = world.ms;
  await world.pass(6 * MINUTE);
  expect(new Set(growths(world))).toEqual(new Set(["stopped"]));
});

test("an answer that was on its way while the device slept is not taken for the time", async () => {
  const world = new World(4_000);
  await world.pass(5 * MINUTE);
  world.wayMs = 3_000;
  world.waiting.wake();
  await world.pass(1_000);
  world.sleep(60 * MINUTE);
  await world.pass(6_000);
  const offs = world.views.slice(-8).map(({ now }) => now - START);
  expect(Math.min(...offs)).toBeGreaterThan(60 * MINUTE);
  expect(Math.abs(offMs(world))).toBeLessThan(2_000);
});

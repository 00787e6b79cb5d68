/** Deadlines by a clock that the test turns: what hangs for seconds takes none. */
import { sleep } from "@vestibule/feed/fetch-text.system";
import { epochMs } from "@vestibule/kernel/units";
import { vi } from "vitest";
import { NOW } from "./event.ts";
import type { World } from "./world.ts";

/** Real time in which what needs none by the clock (signatures, streams) comes to its end. */
const TURN_MS = 20;
const STEPS_MAX = 200;
const BUSY_TURNS_MAX = 100;

const realTimeout = setTimeout;

/** Before the world of the test is made. */
export function startVirtualTime(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: NOW });
}

export function stopVirtualTime(): void {
  vi.useRealTimers();
}

/** The world's clock is the test's from now on. */
export function inVirtualTime(world: World): World {
  return Object.defineProperty(world, "now", { get: () => epochMs(Date.now()) });
}

/** What comes of `work`, and after how much virtual time. */
export async function timed<T>(work: Promise<T>): Promise<{ value: T; ms: number }> {
  const startedAt = Date.now();
  const state = { isSettled: false };
  const settle = () => {
    state.isSettled = true;
  };
  work.then(settle, settle);
  for (let step = 0; step < STEPS_MAX && !state.isSettled; step += 1) {
    if (step > 0) await vi.advanceTimersToNextTimerAsync();
    await turn();
  }
  if (!state.isSettled) throw new Error("it came to no end");
  return { value: await work, ms: Date.now() - startedAt };
}

/** Lets time pass, and what is due in it happen. */
export async function pass(ms: number): Promise<void> {
  await timed(sleep(ms));
}

/** One that takes much longer than it should was one of a busy machine: others may not have had theirs. */
async function turn(): Promise<void> {
  for (let turns = 0; turns < BUSY_TURNS_MAX; turns += 1) {
    const startedAt = performance.now();
    await new Promise((resolve) => realTimeout(resolve, TURN_MS));
    if (performance.now() - startedAt < 2 * TURN_MS) return;
  }
}

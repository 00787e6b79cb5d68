import { expect, onTestFinished, vi } from "vitest";

import { connectValkey, type ValkeyClient } from "../../src/client.system.ts";
import type { StoreEvent, StoreLog } from "../../src/store-log.ts";
import { StoreAwayError } from "../../src/token-bucket.ts";

export const DEADLINE_MS = 250;
/** What a busy machine adds to a deadline. */
export const SLACK_MS = 350;

export interface OpenClient {
  readonly client: ValkeyClient;
  readonly said: {
    readonly event: StoreEvent;
    readonly fields: Readonly<Record<string, unknown>>;
  }[];
}

/** A client that the test's end closes. It may not be up yet. */
export function openClient(url: string, options: { deadlineMs?: number } = {}): OpenClient {
  const said: OpenClient["said"] = [];
  const log: StoreLog = (event, fields) => said.push({ event, fields });
  const client = connectValkey({ url, deadlineMs: options.deadlineMs ?? DEADLINE_MS, log });
  onTestFinished(() => client.close());
  return { client, said };
}

export async function openUp(
  url: string,
  options: { deadlineMs?: number } = {},
): Promise<OpenClient> {
  const opened = openClient(url, options);
  await untilUp(opened.client);
  return opened;
}

/** @returns milliseconds that it took. */
export async function untilUp(client: ValkeyClient, timeoutMs = 5_000): Promise<number> {
  const since = performance.now();
  await vi.waitFor(() => expect(client.isUp()).toBe(true), { timeout: timeoutMs, interval: 5 });
  return performance.now() - since;
}

/** How a call ended: only ever with its answer, or with a StoreAwayError in time. */
export async function outcomeOf<Value>(
  call: () => Promise<Value>,
): Promise<{ value: Value | undefined; away: string | undefined; tookMs: number }> {
  const since = performance.now();
  try {
    const value = await call();
    return { value, away: undefined, tookMs: performance.now() - since };
  } catch (error) {
    if (!(error instanceof StoreAwayError)) throw error;
    return { value: undefined, away: error.message, tookMs: performance.now() - since };
  }
}

export interface Load {
  readonly answered: number;
  readonly away: number;
  /** Of the slowest call, less what this process was late itself. */
  readonly slowestMs: number;
  /** Everything that is neither an answer nor a StoreAwayError. */
  readonly wrong: readonly unknown[];
}

/** Calls at a steady rate until `stop` says so; then waits for every one of them. */
export function startLoad(
  call: () => Promise<unknown>,
  options: { perSecond: number },
): { stop: () => Promise<Load>; count: () => Load } {
  const load = { answered: 0, away: 0, slowestMs: 0, wrong: [] as unknown[] };
  // On a machine that is busy with other things a timer is late, and so is the answer: that is not the client's.
  let lateMs = 0;
  let tickedMs = performance.now();
  const ended = (): Load => ({ ...load, slowestMs: Math.max(0, load.slowestMs - 2 * lateMs) });
  const underWay = new Set<Promise<void>>();
  const since = performance.now();
  let started = 0;
  const timer = setInterval(() => {
    lateMs = Math.max(lateMs, performance.now() - tickedMs - 5);
    tickedMs = performance.now();
    const due = Math.floor(((performance.now() - since) * options.perSecond) / 1_000);
    for (; started < due; started += 1) {
      const one = outcomeOf(call).then(
        ({ away, tookMs }) => {
          if (away === undefined) load.answered += 1;
          else load.away += 1;
          load.slowestMs = Math.max(load.slowestMs, tookMs);
        },
        (error: unknown) => void load.wrong.push(error),
      );
      underWay.add(one);
      void one.then(() => underWay.delete(one));
    }
  }, 5);
  return {
    count: ended,
    stop: async () => {
      clearInterval(timer);
      await Promise.all(underWay);
      return ended();
    },
  };
}

/** Lets real time pass: for what cannot be waited for by a condition, as a server that stays away. */
export async function pass(ms: number): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

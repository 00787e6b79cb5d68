/** Waiting for a condition, with a bound: the only way in which these tests let time pass. */
import { setTimeout as sleep } from "node:timers/promises";

const INTERVAL_MS = 50;

/** An answer that no further asking will change. */
export class Decided extends Error {
  override readonly name = "Decided";
}

/**
 * Asks until `ask` gives something else than `undefined` or `false`.
 *
 * @throws Decided of `ask` at once; Error that says `what`, and the last error of `ask`, when it takes
 * longer than `withinMs`.
 */
export async function eventually<Value>(
  what: string,
  ask: () => Promise<Value | undefined | false> | Value | undefined | false,
  { withinMs = 20_000, everyMs = INTERVAL_MS }: { withinMs?: number; everyMs?: number } = {},
): Promise<Value> {
  const began = performance.now();
  let last: unknown;
  while (performance.now() - began < withinMs) {
    try {
      const value = await ask();
      if (value !== undefined && value !== false) return value;
      last = value;
    } catch (error) {
      if (error instanceof Decided) throw error;
      last = error;
    }
    await sleep(everyMs);
  }
  throw new Error(`not within ${withinMs} ms: ${what}`, { cause: last });
}

/** Calls `look` again and again until `isOver` says so; every answer of `look` is kept, in order. */
export async function watch<Value>(
  look: () => Promise<Value>,
  {
    isOver,
    everyMs = INTERVAL_MS,
    withinMs = 60_000,
  }: { isOver: () => boolean; everyMs?: number; withinMs?: number },
): Promise<readonly Value[]> {
  const seen: Value[] = [];
  const began = performance.now();
  while (!isOver()) {
    if (performance.now() - began > withinMs) throw new Error(`not over within ${withinMs} ms`);
    seen.push(await look());
    await sleep(everyMs);
  }
  return seen;
}

/** `work` for all of them, so many at a time; the answers in the order of the items. */
export async function inTurn<Item, Value>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Value>,
): Promise<readonly Value[]> {
  const values: Value[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) values[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return values;
}

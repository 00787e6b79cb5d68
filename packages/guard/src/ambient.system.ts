/** The machine's own clock, `fetch` and interval, as the guard's defaults. */
import { systemClock } from "@vestibule/kernel/clock.system";

type Fetch = (url: string, init: never) => Promise<never>;
declare function setInterval(run: () => void, ms: number): number | { unref?(): void };
declare function clearInterval(timer: unknown): void;

export const systemNow = (): number => systemClock.now();

/** Looked up at each call, so that a `fetch` that was instrumented later is used, and never detached. */
export const systemFetch: Fetch = (url, init) =>
  (globalThis as unknown as { fetch: Fetch }).fetch(url, init);

/** Calls `work` every `ms` until the returned function is called. Keeps no process alive. */
export function every(ms: number, work: () => void): () => void {
  const timer = setInterval(work, ms);
  if (typeof timer === "object") timer.unref?.();
  return () => clearInterval(timer);
}

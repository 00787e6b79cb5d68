import type { Timers } from "./timers.ts";

/** The event loop's timers. They do not keep a process alive. */
export const systemTimers: Timers = {
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
  monotonicMs: () => performance.now(),
};

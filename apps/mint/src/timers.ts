/** Waiting and its measure, as an argument: real in production, by hand in tests. */
export interface Timers {
  /** Calls `run` once, in `ms`; the returned function calls that off. */
  after(ms: number, run: () => void): () => void;
  /** Milliseconds since some moment. Unlike the time of day it is never set, forwards or back. */
  monotonicMs(): number;
}

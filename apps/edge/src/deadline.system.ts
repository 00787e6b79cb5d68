/** Deadlines over the runtime's timers. */

/** Thrown by `withDeadline` when time is up. */
export class DeadlineError extends Error {
  override readonly name = "DeadlineError";
}

/**
 * Runs `work` with a signal that aborts after `ms`. Time counts until the returned promise settles, so
 * for a `fetch` it bounds the response head, not the body that streams afterwards.
 * @throws DeadlineError when time is up; otherwise what `work` throws.
 */
export async function withDeadline<T>(
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const abort = new AbortController();
  const timer = setTimeout(() => {
    abort.abort(new DeadlineError("time is up"));
  }, ms);
  try {
    return await work(abort.signal);
  } catch (error) {
    if (abort.signal.aborted) throw new DeadlineError("time is up", { cause: error });
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Deadlines over the runtime's timers. */
import { MOVE_LOOKS } from "./limits.ts";

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

/**
 * `work`, or `undefined` when it has not settled after `ms`. Nothing is aborted: the runtime ends what a
 * request has left open when its response is done.
 * @throws what `work` throws in time.
 */
export async function settledWithin<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | null = null;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What becomes of `answerWithin`. */
interface Outcomes<T> {
  readonly answered: (value: T) => T;
  readonly failed: () => T;
  readonly late: () => T;
  /** What must stand still for time to count; without it all time counts. */
  readonly moves?: (() => number) | undefined;
}

/**
 * What `answered` makes of what `work` gives; what `failed` gives when it rejects; what `late` gives when it has not
 * settled `ms` after the last move. For the hot path: nothing is aborted and no timer is cleared, since the runtime ends
 * what a request has left open when its response is done: each call less counts here.
 */
export function answerWithin<T>(ms: number, work: Promise<T>, outcomes: Outcomes<T>): Promise<T> {
  const { moves } = outcomes;
  return new Promise((resolve) => {
    if (moves === undefined) {
      setTimeout(() => {
        resolve(outcomes.late());
      }, ms);
    } else {
      whenStill(ms, moves, () => {
        resolve(outcomes.late());
      });
    }
    work.then(
      (value) => {
        resolve(outcomes.answered(value));
      },
      () => {
        resolve(outcomes.failed());
      },
    );
  });
}

/** Looks now and then, so that a move costs nothing: it may take one look longer. */
function whenStill(ms: number, moves: () => number, still: () => void): void {
  let seen = moves();
  let looksLeft = MOVE_LOOKS;
  const look = (): void => {
    const now = moves();
    looksLeft = now === seen ? looksLeft - 1 : MOVE_LOOKS;
    seen = now;
    if (looksLeft === 0) still();
    else setTimeout(look, ms / MOVE_LOOKS);
  };
  setTimeout(look, ms / MOVE_LOOKS);
}

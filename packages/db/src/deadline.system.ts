/** The error of a call that took longer than it may. The work itself may still be going on. */
export class DeadlineError extends Error {
  override readonly name = "DeadlineError";
  readonly code = "DATABASE_DEADLINE";
}

/**
 * Settles like `work`, or rejects with a DeadlineError after `ms`; `onDeadline` runs just before.
 * A driver's promise is no deadline: some never settle (porsager/postgres 1186).
 */
export function withDeadline<Value>(
  work: Promise<Value>,
  ms: number,
  onDeadline?: () => void,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      onDeadline?.();
      reject(new DeadlineError(`not done within ${ms} ms`));
    }, ms);
    work.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

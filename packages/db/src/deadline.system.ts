/** The error of a call that took longer than it may. The work itself may still be going on. */
export class DeadlineError extends Error {
  override readonly name = "DeadlineError";
  readonly code = "DATABASE_DEADLINE";
}

/**
 * Settles like `work`, or rejects with a DeadlineError after `ms`; `onDeadline` runs just before.
 * A driver's promise is no deadline: some never settle (porsager/postgres 1186).
 */
export async function withDeadline<Value>(
  work: Promise<Value>,
  ms: number,
  onDeadline?: () => void,
): Promise<Value> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    onDeadline?.();
    late.reject(new DeadlineError(`not done within ${ms} ms`));
  }, ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

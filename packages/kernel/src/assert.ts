/** A broken invariant of ours: never the caller's input. It becomes a 500 and is logged. */
export class AssertionError extends Error {
  override readonly name = "AssertionError";
}

/** @throws AssertionError when `condition` is false. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/**
 * A Lua script. The text lies in a TypeScript module, not in a file beside it, so that an app that is bundled
 * into one file carries it along. Its contract (KEYS, ARGV, what it returns) is the header of its text.
 */
export interface Script<Reply> {
  /** `verb_noun`, for messages. */
  readonly name: string;
  readonly text: string;
  /**
   * Undefined when this is not a reply of the script to these arguments: whatever answered is not to be believed.
   *
   * @param args ARGV
   */
  readonly read: (reply: unknown, args: readonly string[]) => Reply | undefined;
}

/** A whole number that survived the way out of Lua. */
export function isWhole(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value);
}

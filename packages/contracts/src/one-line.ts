/**
 * One line that stays where it stands: nothing in it breaks it, or turns the direction of what comes after (Unicode's embeddings,
 * overrides and isolates, UAX 9). Marks of direction, which turn nothing, may be.
 */
export function isOneLine(text: string): boolean {
  return text.isWellFormed() && !/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u.test(text);
}

import type { SeededRandomness } from "@vestibule/testkit/seeded-randomness";

/** The same with one character of its claims or of its signature changed. */
export function forged(token: string, random: SeededRandomness): string {
  const from = token.indexOf(".") + 1;
  // The last character of a signature has spare bits.
  const at = random.integer({ min: from, max: token.length - 2 });
  if (token[at] === ".") return `${token}.`;
  return token.slice(0, at) + (token[at] === "A" ? "B" : "A") + token.slice(at + 1);
}

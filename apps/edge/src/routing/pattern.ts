/** Path patterns of bypass rules, read narrowly: to the letter. */
export interface Pattern {
  readonly text: string;
  readonly prefix: boolean;
}

export function compilePattern(pattern: string): Pattern {
  const prefix = pattern.endsWith("*");
  return { text: prefix ? pattern.slice(0, -1) : pattern, prefix };
}

export function matches({ text, prefix }: Pattern, path: string): boolean {
  return prefix ? path.startsWith(text) : path === text;
}

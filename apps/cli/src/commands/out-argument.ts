/** A file of rows as an argument. @throws Error for the library, which says of which option. */
export function outOf(text: string): string {
  if (/\.(?:jsonl|csv)$/.test(text)) return text;
  throw new Error("a file that ends in .jsonl or .csv");
}

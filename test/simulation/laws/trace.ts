/** What happened, in a form that two runs can be compared by, and the end of which is shown when a law is broken. */

const LINES_KEPT = 60;

export class Trace {
  readonly #now: () => number;
  #lines: string[] = [];
  #one = 0x811c9dc5;
  #other = 0x1234567;
  #count = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @param isRoutine counts for the digest, and is not worth showing. */
  note(line: string, isRoutine = false): void {
    const text = `${this.#now()} ${line}`;
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      this.#one = Math.imul(this.#one ^ code, 0x01000193);
      this.#other = Math.imul(this.#other + code, 0x9e3779b1) ^ (this.#other >>> 13);
    }
    this.#count += 1;
    if (isRoutine) return;
    this.#lines.push(text);
    if (this.#lines.length > 2 * LINES_KEPT) this.#lines = this.#lines.slice(-LINES_KEPT);
  }

  /** The same for two runs in which the same happened at the same time, and in that order. */
  get digest(): string {
    const hex = (word: number): string => (word >>> 0).toString(16).padStart(8, "0");
    return `${hex(this.#one)}${hex(this.#other)}-${this.#count}`;
  }

  get tail(): readonly string[] {
    return this.#lines.slice(-LINES_KEPT);
  }
}

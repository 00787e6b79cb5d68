/** Paints the panel in place on a terminal, or writes a line every few seconds elsewhere. */
import { panelLines, plainLine, type Snapshot } from "./panel.ts";

const PLAIN_EVERY_MS = 5_000;
const COLUMNS_DEFAULT = 80;

export interface Terminal {
  readonly isTTY: boolean;
  readonly columns: () => number;
  readonly rows: () => number;
  readonly color: boolean;
  readonly write: (text: string) => void;
}

/** https://no-color.org: any value that is not empty switches colours off. */
export function terminalOf(
  stream: NodeJS.WriteStream,
  environment: Readonly<Record<string, string | undefined>>,
): Terminal {
  const isTTY = stream.isTTY ? environment["TERM"] !== "dumb" : false;
  return {
    isTTY,
    columns: () => stream.columns ?? COLUMNS_DEFAULT,
    rows: () => stream.rows ?? 24,
    color: isTTY && (environment["NO_COLOR"] ?? "") === "",
    write: (text) => void stream.write(text),
  };
}

export class Display {
  readonly #terminal: Terminal;
  #drawn = 0;
  #lastPlain = -Infinity;
  #lastState: string | undefined;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** A line that stays: progress, a note, a violation. Goes above the panel. */
  say(line: string): void {
    this.#terminal.write(`${this.#clear()}${line}\n`);
  }

  show(snapshot: Snapshot, now: number): void {
    const { isTTY, color } = this.#terminal;
    if (!isTTY) {
      const due = now - this.#lastPlain >= PLAIN_EVERY_MS || snapshot.state !== this.#lastState;
      if (!due) return;
      if (this.#lastState === undefined) {
        for (const { label, target } of snapshot.links) this.say(`${label.trim()}: ${target}`);
      }
      this.#lastPlain = now;
      this.#lastState = snapshot.state;
      this.#terminal.write(`${plainLine(snapshot)}\n`);
      return;
    }
    // A panel higher than the window could not be taken back: what does not fit is left away.
    const lines = panelLines(snapshot, { columns: this.#terminal.columns(), color }).slice(
      0,
      Math.max(1, this.#terminal.rows() - 1),
    );
    const text = lines.map((line) => `\u001b[2K${line}\n`).join("");
    this.#terminal.write(`\u001b[?25l${this.#home()}${text}\u001b[J`);
    this.#drawn = lines.length;
  }

  /** Leaves the last panel where it is, and the cursor visible. */
  close(): void {
    if (this.#terminal.isTTY) this.#terminal.write("\u001b[?25h");
    this.#drawn = 0;
  }

  /** To where the panel begins. */
  #home(): string {
    return this.#drawn === 0 ? "" : `\u001b[${this.#drawn}A\r`;
  }

  #clear(): string {
    const text = this.#drawn === 0 ? "" : `${this.#home()}\u001b[J`;
    this.#drawn = 0;
    return text;
  }
}

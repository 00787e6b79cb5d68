/** What goes on while a command waits: one line repainted on a terminal, now and then a new one elsewhere. */
import type { Clock } from "@vestibule/kernel/clock";
import { PLAIN_EVERY_MS } from "../limits.ts";
import type { Screen } from "../platform.ts";
import { widthOf } from "./style.ts";

export class Progress {
  readonly #screen: Screen;
  readonly #clock: Clock;
  #drawn = false;
  #plainAt = Number.NEGATIVE_INFINITY;

  constructor(screen: Screen, clock: Clock) {
    this.#screen = screen;
    this.#clock = clock;
  }

  /** @param plainEveryMs where there is no terminal; a long wait is told of seldom. */
  show(text: string, plainEveryMs: number = PLAIN_EVERY_MS): void {
    const { isTerminal, columns } = this.#screen;
    if (isTerminal) {
      const line = widthOf(text) < columns ? text : text.slice(0, columns - 1);
      this.#screen.write(`\r\u001b[2K${line}`);
      this.#drawn = true;
      return;
    }
    const now = this.#clock.now();
    if (now - this.#plainAt < plainEveryMs) return;
    this.#plainAt = now;
    this.#screen.write(`${text}\n`);
  }

  /** A line that stays. */
  say(text: string): void {
    this.clear();
    this.#screen.write(`${text}\n`);
  }

  clear(): void {
    if (this.#drawn) this.#screen.write("\r\u001b[2K");
    this.#drawn = false;
    this.#plainAt = Number.NEGATIVE_INFINITY;
  }
}

/** `▕████░░░▏`: how much of it is over. */
export function bar(
  share: number,
  { cells, unicode }: { cells: number; unicode: boolean },
): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * cells);
  const [on, off] = unicode ? ["█", "░"] : ["#", "."];
  return `[${on.repeat(full)}${off.repeat(cells - full)}]`;
}

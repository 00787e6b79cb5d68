/**
 * The mint's clock, as well as a browser can know it. A statement was signed before it was received, so
 * `at` minus the moment of receipt is a lower bound of the offset; the location's own reading, taken
 * while the page was on its way, is a good first guess. The higher of both is never early by more than
 * the location's clock is wrong.
 */
import { CLOCK_JUMP_MS } from "./pace.ts";

export interface MintTime {
  /** The mint's time at the local time `local`, epoch milliseconds. */
  at(local: number): number;
  /** A statement signed at `signedAt` has arrived at `local`. */
  heard(signedAt: number, local: number): void;
  /** Nothing is known: only the next statement counts. */
  forget(): void;
  /**
   * The local clock has moved by so much more than time went by: set back, or set forwards, or, which looks the same,
   * the device slept. The next statement tells the last two apart: one too new for a clock that was set forwards.
   */
  jumped(byMs: number): void;
  /** Until then it is taken to have slept, as nearly all have. */
  readonly isSure: boolean;
}

/** `serverNow`: of the page; `local`: when its first byte arrived. */
export function createMintTime(serverNow: number, local: number): MintTime {
  let offset = serverNow - local;
  let forgotten = false;
  let ifSet: number | undefined;
  return {
    at: (moment) => moment + offset,
    heard(signedAt, moment) {
      const bound = signedAt - moment;
      if (ifSet !== undefined && bound <= ifSet + CLOCK_JUMP_MS) offset = ifSet;
      ifSet = undefined;
      if (forgotten || bound > offset) offset = bound;
      forgotten = false;
    },
    forget() {
      forgotten = true;
    },
    jumped(byMs) {
      if (byMs < 0) offset -= byMs;
      ifSet = byMs > 0 || ifSet !== undefined ? (ifSet ?? offset) - byMs : undefined;
    },
    get isSure() {
      return ifSet === undefined;
    },
  };
}

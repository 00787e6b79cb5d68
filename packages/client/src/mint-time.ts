/**
 * The mint's clock, as well as a browser can know it. A statement was signed before it was received, so
 * `at` minus the moment of receipt is a lower bound of the offset; the location's own reading, taken
 * while the page was on its way, is a good first guess. The higher of both is never early by more than
 * the location's clock is wrong.
 */
export interface MintTime {
  /** The mint's time at the local time `local`, epoch milliseconds. */
  at(local: number): number;
  /** A statement signed at `signedAt` has arrived at `local`. */
  heard(signedAt: number, local: number): void;
  /** The local clock may have been changed, or have slept: only the next statement counts. */
  forget(): void;
}

/** `serverNow`: of the page; `local`: when its first byte arrived. */
export function createMintTime(serverNow: number, local: number): MintTime {
  let offset = serverNow - local;
  let forgotten = false;
  return {
    at: (moment) => moment + offset,
    heard(signedAt, moment) {
      const bound = signedAt - moment;
      if (forgotten || bound > offset) offset = bound;
      forgotten = false;
    },
    forget() {
      forgotten = true;
    },
  };
}

import type { WriteStream } from "node:tty";

export interface ProgressLine {
  /** Replaces the last progress on a terminal; elsewhere said at most every few seconds. */
  readonly progress: (text: string) => void;
  /** Stays. */
  readonly line: (text: string) => void;
}

const QUIET_MS = 5_000;

export function progressLine(stream: WriteStream): ProgressLine {
  const clear = stream.isTTY ? "\r\u001B[2K" : "";
  let saidAt = -Infinity;
  return {
    progress: (text) => {
      if (stream.isTTY) {
        stream.write(`${clear}    ${text}`.slice(0, clear.length + stream.columns - 1));
        return;
      }
      if (performance.now() - saidAt < QUIET_MS) return;
      saidAt = performance.now();
      stream.write(`    ${text}\n`);
    },
    line: (text) => {
      stream.write(`${clear}${text}\n`);
      saidAt = -Infinity;
    },
  };
}

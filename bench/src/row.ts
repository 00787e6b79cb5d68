import type { Processes } from "./processes.ts";
import type { Spread } from "./statistics.ts";

/** One line of the table: a candidate of ours against a floor, measured in the same run. */
export interface Row {
  readonly name: string;
  readonly what: string;
  readonly floor: string;
  /** The row gives up after this long. */
  readonly timeoutMs: number;
  /** The least ratio that passes; bigger is better in every row. */
  readonly atLeast: number;
  readonly unit: string;
  readonly measure: (bench: Bench) => Promise<Measured>;
}

export interface Measured {
  readonly candidate: number;
  readonly floor: number;
  readonly ratio: number;
  /** Of the ratio, over rounds, where there are rounds. */
  readonly spread?: Spread;
  /** What a reader needs beside the figures. */
  readonly notes: readonly string[];
  /** What else had to hold and did not: the row misses, whatever its ratio. */
  readonly misses?: readonly string[];
}

/** What a row is given to work with. */
export interface Bench {
  readonly processes: Processes;
  /** A directory of this run, removed at its end. */
  readonly scratch: string;
  /** Says what goes on; the next text may take its place. */
  readonly progress: (text: string) => void;
  /** Fewer and shorter rounds: shows that everything runs, and measures little. */
  readonly quick: boolean;
}

/** What `--json` writes. A row that could not be measured has zeros and has not passed. */
export interface RowReport {
  readonly name: string;
  readonly candidate: number;
  readonly floor: number;
  readonly unit: string;
  readonly ratio: number;
  readonly atLeast: number;
  readonly pass: boolean;
}

/**
 * The output of `vestibule admissions`: a row as soon as there is something to say of a person, and a later one when it
 * is not true any more. The last row of a number counts. It is all that a later start needs.
 */
import { parse } from "@vestibule/contracts/parse";
import * as z from "zod/mini";
import { CliFailure } from "../failure.ts";
import type { SecretFiles } from "../platform.ts";
import { oneLine } from "../terminal/words.ts";
import type { Ledger, Outcome } from "./ledger.ts";
import type { Places } from "./places.ts";
import { headOf, readRows, rowLine } from "./rows.ts";

const COLUMNS = ["id", "event", "number", "state", "opensAt", "closesAt", "admission"] as const;
const whose = { id: z.string(), event: z.string(), number: z.int() };
const rowSchema = z.union([
  z.object({
    ...whose,
    state: z.literal("admitted"),
    ...{ opensAt: z.int(), closesAt: z.int(), admission: z.string() },
  }),
  z.object({ ...whose, state: z.enum(["missed", "ended"]) }),
]);

export class AdmissionsFile {
  readonly #files: SecretFiles;
  readonly #places: Places;
  readonly #path: string;
  #length = 0;

  /**
   * Goes on behind what an earlier start has written, and notes it.
   *
   * @throws CliFailure for a file that is about something else.
   */
  constructor(
    files: SecretFiles,
    { path, places, ledger }: { path: string; places: Places; ledger: Ledger },
  ) {
    this.#files = files;
    this.#places = places;
    this.#path = path;
    const head = headOf(path, COLUMNS);
    if (files.create(path, head)) {
      this.#length = Buffer.byteLength(head);
      return;
    }
    const { lines, bytes } = files.measure(path) ?? { lines: 0, bytes: 0 };
    if (lines === 0) {
      // What a kill leaves of the first line; of anybody else's file nothing is written over.
      const text = files.read(path) ?? "";
      const isOurs = head === "" ? this.#isRowOf(text) : head.startsWith(text);
      if (!isOurs) throw this.#isOther();
      this.#length = files.append(path, { at: 0, text: head });
      return;
    }
    this.#length = bytes;
    const indexes = new Map<number, number>();
    for (const { first, from, subs } of places.batches)
      for (let at = 0; at < subs.length; at += 1) indexes.set(first + at, from + at);
    for (const { row } of readRows(path, files.lines(path))) {
      const read = parse(rowSchema, row);
      const index = read.ok ? indexes.get(read.value.number) : undefined;
      if (!read.ok || index === undefined) throw this.#isOther();
      const { id, event } = read.value;
      if (id !== places.ids[index] || event !== places.event) throw this.#isOther();
      ledger.note(index, read.value);
    }
  }

  /** They are on disk when this returns. */
  write(rows: readonly { index: number; number: number; outcome: Outcome }[]): void {
    const { event, ids } = this.#places;
    const text = rows
      .map(({ index, number, outcome }) =>
        rowLine(this.#path, COLUMNS, { id: ids[index], event, number, ...outcome }),
      )
      .join("");
    this.#length = this.#files.append(this.#path, { at: this.#length, text });
  }

  /** As far as it goes, the first row of somebody of the list. */
  #isRowOf(text: string): boolean {
    const { event, ids, batches } = this.#places;
    return batches.some(({ from, first, subs }) =>
      subs.some((_sub, at) => {
        const row = JSON.stringify({ id: ids[from + at], event, number: first + at, state: "" });
        const begins = row.slice(0, -'"}'.length);
        return begins.startsWith(text) || text.startsWith(begins);
      }),
    );
  }

  #isOther(): CliFailure {
    return new CliFailure(
      `${oneLine(this.#path)} is there already, and not of these places. Name another --out: nothing is written over.`,
    );
  }
}

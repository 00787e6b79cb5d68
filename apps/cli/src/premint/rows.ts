/** Rows of the command's own files, a line each: JSONL, or CSV with a head, by the name of the file. */
import { csvLine, readCsv } from "./csv.ts";

export type Row = Readonly<Record<string, unknown>>;
type Fields = Readonly<Record<string, string | number | undefined>>;

/** In CSV everything is text. */
const WHOLE_NUMBERS: ReadonlySet<string> = new Set(["number", "opensAt", "closesAt"]);

/** What the file begins with. */
export function headOf(path: string, columns: readonly string[]): string {
  return isCsv(path) ? `${csvLine(columns)}\n` : "";
}

/** @param row what is `undefined` in it is left away. */
export function rowLine(path: string, columns: readonly string[], row: Fields): string {
  if (!isCsv(path)) return `${JSON.stringify(row)}\n`;
  return `${csvLine(columns.map((column) => row[column] ?? ""))}\n`;
}

/** With the line of each, from 1. What cannot be read is an empty row. */
export function* readRows(
  path: string,
  lines: Iterable<string>,
): Iterable<{ readonly line: number; readonly row: Row }> {
  let line = 0;
  let columns: readonly string[] | undefined;
  for (const text of lines) {
    line += 1;
    if (!isCsv(path)) yield { line, row: jsonRow(text) };
    else if (columns === undefined) columns = fieldsOf(text);
    else yield { line, row: csvRow(columns, fieldsOf(text)) };
  }
}

function isCsv(path: string): boolean {
  return path.endsWith(".csv");
}

function fieldsOf(text: string): readonly string[] {
  return readCsv(text).records[0]?.fields ?? [];
}

function csvRow(columns: readonly string[], fields: readonly string[]): Row {
  const filled = columns
    .map((name, index) => [name, fields[index] ?? ""] as const)
    .filter(([, value]) => value !== "");
  return Object.fromEntries(
    filled.map(([name, value]) => [name, WHOLE_NUMBERS.has(name) ? Number(value) : value]),
  );
}

function jsonRow(text: string): Row {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Row) : {};
  } catch {
    return {};
  }
}

/** CSV as RFC 4180 has it: commas, quotes, and a name for each column. */

export interface CsvLine {
  /** Of the file, from 1: where the record begins. */
  readonly line: number;
  readonly fields: readonly string[];
  /** Something stands between a closing quote and the next comma: what was meant is not known. */
  readonly hasStray: boolean;
}

/** @returns its records, without empty lines; `openQuote`: the line of a quote that is never closed. */
export function readCsv(text: string): {
  readonly records: readonly CsvLine[];
  readonly openQuote?: number;
} {
  const records: CsvLine[] = [];
  let fields: string[] = [];
  let hasStray = false;
  let line = 1;
  let startedAt = 1;
  let at = text.startsWith("\uFEFF") ? 1 : 0;
  const endRecord = (): void => {
    if (fields.length > 1 || fields[0] !== "") records.push({ line: startedAt, fields, hasStray });
    fields = [];
    hasStray = false;
    line += 1;
    startedAt = line;
  };
  while (at < text.length) {
    const field = text[at] === '"' ? quoted(text, at) : plain(text, at);
    if (field === undefined) return { records, openQuote: line };
    fields.push(field.value);
    hasStray ||= field.isStray;
    line += field.lines;
    at = field.end;
    if (text[at] === ",") {
      at += 1;
      if (at < text.length) continue;
      fields.push("");
    }
    if (text[at] === "\r") at += 1;
    at += 1;
    endRecord();
  }
  return { records };
}

interface Field {
  readonly value: string;
  readonly end: number;
  /** Line ends in it. */
  readonly lines: number;
  readonly isStray: boolean;
}

function plain(text: string, from: number): Field {
  const end = endOf(text, from);
  return { value: text.slice(from, end), end, lines: 0, isStray: false };
}

function quoted(text: string, from: number): Field | undefined {
  let value = "";
  let at = from + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote === -1) return undefined;
    value += text.slice(at, quote);
    at = quote + 1;
    if (text[at] !== '"') break;
    value += '"';
    at += 1;
  }
  const end = endOf(text, at);
  return { value, end, lines: value.split("\n").length - 1, isStray: end > at };
}

/** The next comma or end of line. */
function endOf(text: string, from: number): number {
  let end = from;
  for (; end < text.length; end += 1) {
    const char = text[end];
    if (char === "," || char === "\n") return end;
    if (char === "\r" && text[end + 1] === "\n") return end;
  }
  return end;
}

/** One record, without its line end. */
export function csvLine(fields: readonly (string | number)[]): string {
  return fields
    .map((field) => {
      const text = String(field);
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    })
    .join(",");
}

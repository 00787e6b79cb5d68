/** Who gets a place: a CSV file with the columns `id` and, where the shop has the visitor's secret, `sub`. */
import { HASH_TEXT } from "@vestibule/contracts/hash-text";
import { PEOPLE_MAX, PERSON_ID_CHARS_MAX } from "../limits.ts";
import { figure, plural } from "../terminal/words.ts";
import { type CsvLine, readCsv } from "./csv.ts";
import { listFailure } from "./list-mistakes.ts";

export interface Person {
  /** The organizer's own name for them: it comes back beside their place, and goes nowhere else. */
  readonly id: string;
  /** Hash of a secret that somebody else keeps; `undefined`: the command makes the secret. */
  readonly sub: string | undefined;
}

export interface People {
  readonly people: readonly Person[];
  /** Columns that mean nothing here. */
  readonly unused: readonly string[];
}

/** @throws CliFailure that names every bad line, as far as a person reads. */
export function readPeople(text: string, path: string): People {
  const { records, openQuote } = readCsv(text);
  const [head, ...rows] = records;
  const columns = head?.fields ?? [];
  const mistakes: string[] = [...headMistakes(columns, head?.hasStray ?? false)];
  const [idAt, subAt] = [columns.indexOf("id"), columns.indexOf("sub")];
  const seen = { id: new Map<string, number>(), sub: new Map<string, number>() };
  const people: Person[] = [];
  if (mistakes.length === 0) {
    for (const row of rows) {
      const said = rowMistakes(row, { columns: columns.length, idAt, subAt, seen });
      for (const what of said) mistakes.push(`line ${row.line}: ${what}`);
      const { fields } = row;
      people.push({ id: fields[idAt] ?? "", sub: subAt === -1 ? undefined : fields[subAt] });
    }
    if (openQuote !== undefined) mistakes.push(`line ${openQuote}: a quote is never closed`);
    else if (rows.length === 0) mistakes.push("there is nobody in it");
    if (rows.length > PEOPLE_MAX)
      mistakes.push(`${plural(rows.length, "person", "people")}: ${figure(PEOPLE_MAX)} at most`);
  }
  if (mistakes.length > 0) throw listFailure(path, mistakes);
  const unused = columns.filter((_name, index) => index !== idAt && index !== subAt);
  return { people, unused };
}

const STRAY = "text behind a closing quote";

function* headMistakes(columns: readonly string[], hasStray: boolean): Iterable<string> {
  if (hasStray) yield `line 1: ${STRAY}`;
  if (!columns.includes("id"))
    yield 'line 1: the first line names the columns, and one of them is "id"';
  for (const name of ["id", "sub"])
    if (columns.filter((column) => column === name).length > 1)
      yield `line 1: the column "${name}" is there twice`;
}

interface RowRules {
  readonly columns: number;
  readonly idAt: number;
  readonly subAt: number;
  readonly seen: { readonly id: Map<string, number>; readonly sub: Map<string, number> };
}

function* rowMistakes(
  { line, fields, hasStray }: CsvLine,
  { columns, idAt, subAt, seen }: RowRules,
): Iterable<string> {
  if (hasStray) yield STRAY;
  if (fields.length !== columns) {
    yield `${plural(fields.length, "field")}, and the first line has ${columns}`;
    return;
  }
  const id = fields[idAt] ?? "";
  if (id === "") yield "no id";
  else if (id.length > PERSON_ID_CHARS_MAX)
    yield `the id is longer than ${PERSON_ID_CHARS_MAX} characters`;
  else if (/\p{Cc}/u.test(id)) yield "the id is not one line of text";
  else if (id.includes("\uFFFD")) yield "the id is not UTF-8";
  else yield* repeated("id", id, line, seen.id);
  if (subAt === -1) return;
  const sub = fields[subAt] ?? "";
  if (!HASH_TEXT.test(sub)) yield "the sub is no SHA-256 in base64url (43 characters)";
  else yield* repeated("sub", sub, line, seen.sub);
}

function* repeated(
  what: string,
  value: string,
  line: number,
  seen: Map<string, number>,
): Iterable<string> {
  const earlier = seen.get(value);
  if (earlier === undefined) seen.set(value, line);
  else yield `the same ${what} as in line ${earlier}`;
}

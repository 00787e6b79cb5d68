/** The places of a list, as `vestibule premint` wrote them. */
import { visitorSchema } from "@vestibule/contracts/line-api";
import { HASH_TEXT } from "@vestibule/contracts/hash-text";
import { PREMINT_BATCH_MAX } from "@vestibule/contracts/limits";
import { PREMINT_BATCH_NAME } from "@vestibule/contracts/premint-api";
import { parse } from "@vestibule/contracts/parse";
import { slugSchema } from "@vestibule/contracts/slug";
import { hashVisitor } from "@vestibule/token/visitor";
import * as z from "zod/mini";
import { PEOPLE_MAX } from "../limits.ts";
import { figure } from "../terminal/words.ts";
import { partOf } from "../token-part.ts";
import { listFailure } from "./list-mistakes.ts";
import { readRows, type Row } from "./rows.ts";

const placeSchema = z.object({
  id: z.string().check(z.minLength(1)),
  event: slugSchema,
  number: z.int().check(z.positive()),
  visitor: z.optional(visitorSchema),
  ticket: z.string(),
  batch: z.string().check(z.regex(PREMINT_BATCH_NAME)),
});

/** People whose numbers follow each other: of the file, those from index `from` on. */
export interface PlaceBatch {
  readonly name: string;
  readonly from: number;
  /** Number of the first. */
  readonly first: number;
  readonly subs: readonly string[];
}

export interface Places {
  readonly event: string;
  /** The organizer's names for them, in the order of the file. */
  readonly ids: readonly string[];
  readonly batches: readonly PlaceBatch[];
}

/** @throws CliFailure that names what is not as `premint` wrote it. */
export function readPlaces(path: string, lines: Iterable<string>): Places {
  const mistakes: string[] = [];
  const ids: string[] = [];
  const batches = new Map<string, PlaceBatch & { readonly subs: string[] }>();
  let event: string | undefined;
  let last: string | undefined;
  for (const { line, row } of readRows(path, lines)) {
    const place = placeOf(row);
    if (typeof place === "string") {
      mistakes.push(`line ${line}: ${place}`);
      continue;
    }
    event ??= place.event;
    if (place.event !== event) mistakes.push(`line ${line}: of another event than the first`);
    let batch = batches.get(place.batch);
    if (batch === undefined) {
      batch = { name: place.batch, from: ids.length, first: place.number, subs: [] };
      batches.set(place.batch, batch);
    } else if (last !== place.batch || batch.first + batch.subs.length !== place.number) {
      mistakes.push(`line ${line}: not the next of its batch: a line is missing, or was moved`);
    } else if (batch.subs.length === PREMINT_BATCH_MAX) {
      mistakes.push(`line ${line}: one more than a batch has`);
    }
    last = place.batch;
    batch.subs.push(place.sub);
    ids.push(place.id);
  }
  if (ids.length === 0 && mistakes.length === 0) mistakes.push("there is nobody in it");
  if (ids.length > PEOPLE_MAX) mistakes.push(`more than ${figure(PEOPLE_MAX)} people`);
  if (mistakes.length > 0 || event === undefined) throw listFailure(path, mistakes);
  return { event, ids, batches: [...batches.values()] };
}

function placeOf(row: Row): (z.infer<typeof placeSchema> & { readonly sub: string }) | string {
  const read = parse(placeSchema, row);
  if (!read.ok) {
    const fields = [...new Set(read.refusal.map(({ field }) => field))].join(", ");
    return `no place as premint writes it (${fields})`;
  }
  const { visitor, ticket } = read.value;
  // The ticket says whose it is, also where the secret is somebody else's.
  const sub = visitor === undefined ? partOf(ticket, 1)["sub"] : hashVisitor(visitor);
  if (typeof sub !== "string" || !HASH_TEXT.test(sub))
    return "no place as premint writes it (ticket)";
  return { ...read.value, sub };
}

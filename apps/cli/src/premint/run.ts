/**
 * One run, which may take several starts of the command. Its secret and what it is about are in a file of their
 * own beside the output, written before the mint is asked for anything: names of batches and visitors' secrets
 * are derived from it, so that whatever is asked again is asked in the same words.
 */
import { createHash, createHmac } from "node:crypto";
import { HASH_TEXT } from "@vestibule/contracts/hash-text";
import { PREMINT_BATCH_MAX } from "@vestibule/contracts/limits";
import { parse } from "@vestibule/contracts/parse";
import { slugSchema } from "@vestibule/contracts/slug";
import type { Randomness } from "@vestibule/kernel/randomness";
import { hashVisitor } from "@vestibule/token/visitor";
import * as z from "zod/mini";
import type { Person } from "./people.ts";

const KEY_BYTES = 32;

const runSchema = z.strictObject({
  run: z.literal(1),
  event: slugSchema,
  /** When the event was created, by its mint: another mint may have one of the same name. */
  createdAt: z.int(),
  /** Of the list of people. */
  digest: z.string().check(z.regex(HASH_TEXT)),
  batchSize: z.int().check(z.positive(), z.maximum(PREMINT_BATCH_MAX)),
  /** Secret. */
  key: z.string().check(z.regex(HASH_TEXT)),
});
export type RunState = z.infer<typeof runSchema>;

export interface Place {
  readonly person: Person;
  /** The visitor's secret; `undefined`: it is somebody else's. */
  readonly visitor: string | undefined;
  readonly sub: string;
}

/** What a run is for. */
export interface About {
  readonly event: string;
  readonly createdAt: number;
  readonly people: readonly Person[];
}

export function newRun({ event, createdAt, people }: About, randomness: Randomness): RunState {
  return {
    run: 1,
    event,
    createdAt,
    digest: digestOf(people),
    batchSize: PREMINT_BATCH_MAX,
    key: Buffer.from(randomness.bytes(KEY_BYTES)).toString("base64url"),
  };
}

/** `undefined`: this is not the file of a run. */
export function readRun(text: string): RunState | undefined {
  try {
    const read = parse(runSchema, JSON.parse(text) as unknown);
    return read.ok ? read.value : undefined;
  } catch {
    return undefined;
  }
}

/** Is it about these people, in this order, and this very event? */
export function isAbout(run: RunState, { event, createdAt, people }: About): boolean {
  return run.event === event && run.createdAt === createdAt && run.digest === digestOf(people);
}

export function batchName({ key }: RunState, index: number): string {
  return derived(key, `batch ${index}`);
}

export function placeOf({ key }: RunState, person: Person): Place {
  if (person.sub !== undefined) return { person, visitor: undefined, sub: person.sub };
  const visitor = derived(key, `visitor ${person.id}`);
  return { person, visitor, sub: hashVisitor(visitor) };
}

function derived(key: string, what: string): string {
  return createHmac("sha256", Buffer.from(key, "base64url")).update(what).digest("base64url");
}

function digestOf(people: readonly Person[]): string {
  const digest = createHash("sha256");
  for (const { id, sub = null } of people) digest.update(`${JSON.stringify([id, sub])}\n`);
  return digest.digest("base64url");
}

/** Bodies of the organizer's API. */
import { type Mistake, parse } from "@vestibule/contracts/parse";
import type { ServiceContext } from "@vestibule/service/app";
import { readJson } from "@vestibule/service/json-body";
import * as z from "zod/mini";
import { refusedSettings } from "./refused-settings.ts";

/**
 * @param beside what is wrong with members that are each in order: asked when others are not, so that all is named at
 *   once. Whoever calls asks the same of what is returned.
 * @throws AppError `invalid-settings` with every mistake at once.
 */
export async function readSettings<Schema extends z.ZodMiniObject>(
  context: ServiceContext,
  schema: Schema,
  beside: (good: Partial<z.output<Schema>>) => readonly Mistake[] = () => [],
): Promise<z.output<Schema>> {
  const body = await readJson(context.req.raw, z.unknown());
  const read = parse(schema, body);
  if (read.ok) return read.value;
  const wrong = new Set(read.refusal.map(({ field }) => field.split(".", 1)[0]));
  const members = Object.entries(typeof body === "object" && body !== null ? body : {});
  const good = parse(
    z.partial(schema),
    Object.fromEntries(members.filter(([name]) => !wrong.has(name))),
  );
  const more = good.ok ? beside(good.value as Partial<z.output<Schema>>) : [];
  throw refusedSettings([...read.refusal, ...more]);
}

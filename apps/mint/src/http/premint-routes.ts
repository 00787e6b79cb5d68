/** Places for people whose entitlement is known beforehand. Behind the admin token, as all of `/v1/admin`. */
import { PREMINT_BODY_BYTES_MAX } from "@vestibule/contracts/limits";
import { parse } from "@vestibule/contracts/parse";
import {
  PREMINT_BATCH_NAME,
  premintClaimsRequestSchema,
  premintRequestSchema,
} from "@vestibule/contracts/premint-api";
import type { ServiceApp, ServiceContext } from "@vestibule/service/app";
import { readJson } from "@vestibule/service/json-body";
import * as z from "zod/mini";
import type { Mint } from "../mint.ts";
import { ACTOR } from "./actor.ts";
import { refusedSettings } from "./refused-settings.ts";

const BATCH = "/v1/admin/events/:event/premints/:batch";

export function addPremintRoutes(app: ServiceApp, { mint }: { readonly mint: Mint }): void {
  app.put(BATCH, async (context) => {
    const { event, batch, body } = await readBatch(context, mint, premintRequestSchema);
    const answer = await mint.premint(event, { batch, ...body, actor: ACTOR });
    return context.body(answer, 200, {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
    });
  });

  app.post(`${BATCH}/admissions`, async (context) => {
    const { event, batch, body } = await readBatch(context, mint, premintClaimsRequestSchema);
    const answer = await mint.claimPremint(event, { batch, ...body });
    return context.json(answer, 200, { "Cache-Control": "no-store" });
  });
}

/** @throws AppError `unavailable`, `event-not-found`, `invalid-settings` with all that is wrong at once. */
async function readBatch<Schema extends z.ZodMiniType>(
  context: ServiceContext,
  mint: Mint,
  schema: Schema,
): Promise<{ readonly event: string; readonly batch: string; readonly body: z.output<Schema> }> {
  const { event = "", batch = "" } = context.req.param() as Readonly<Record<string, string>>;
  mint.entry(event);
  const json = await readJson(context.req.raw, z.unknown(), { bytesMax: PREMINT_BODY_BYTES_MAX });
  const read = parse(schema, json);
  const isNamed = PREMINT_BATCH_NAME.test(batch);
  if (isNamed && read.ok) return { event, batch, body: read.value };
  const message = "Must be 1 to 64 letters, digits, _ and -";
  throw refusedSettings([
    ...(isNamed ? [] : [{ field: "batch", message }]),
    ...(read.ok ? [] : read.refusal),
  ]);
}

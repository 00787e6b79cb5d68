/** Places for people whose entitlement is known beforehand. Behind the admin token, as all of `/v1/admin`. */
import { PREMINT_BODY_BYTES_MAX } from "@vestibule/contracts/limits";
import {
  PREMINT_BATCH_NAME,
  premintClaimsRequestSchema,
  premintRequestSchema,
} from "@vestibule/contracts/premint-api";
import type { ServiceApp } from "@vestibule/service/app";
import { readJson } from "@vestibule/service/json-body";
import type { Mint } from "../mint.ts";
import { refusedSettings } from "./refused-settings.ts";

/** There is one token, so there is one actor. */
const ACTOR = "admin-token";

export function addPremintRoutes(app: ServiceApp, { mint }: { readonly mint: Mint }): void {
  app.put("/v1/admin/events/:event/premints/:batch", async (context) => {
    const { event, batch } = context.req.param();
    assertBatch(mint, event, batch);
    const { subs } = await readJson(context.req.raw, premintRequestSchema, {
      bytesMax: PREMINT_BODY_BYTES_MAX,
    });
    const answer = await mint.premint(event, { batch, subs, actor: ACTOR });
    return context.body(answer, 200, {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
    });
  });

  app.post("/v1/admin/events/:event/premints/:batch/admissions", async (context) => {
    const { event, batch } = context.req.param();
    assertBatch(mint, event, batch);
    const request = await readJson(context.req.raw, premintClaimsRequestSchema, {
      bytesMax: PREMINT_BODY_BYTES_MAX,
    });
    const answer = await mint.claimPremint(event, { batch, ...request });
    return context.json(answer, 200, { "Cache-Control": "no-store" });
  });
}

/** @throws AppError `unavailable`, `event-not-found`, `invalid-settings`. */
function assertBatch(mint: Mint, event: string, batch: string): void {
  mint.entry(event);
  if (PREMINT_BATCH_NAME.test(batch)) return;
  const message = "Must be 1 to 64 letters, digits, _ and -";
  throw refusedSettings([{ field: "batch", message }]);
}

/** What edges ask: keys, manifest, drip, joins (see also `fast-join.ts`) and claims. */
import { claimRequestSchema, joinRequestSchema } from "@vestibule/contracts/line-api";
import { STATEMENT_MEDIA_TYPE } from "@vestibule/contracts/names";
import { JWKS_REFRESH_MS } from "@vestibule/contracts/limits";
import { noStore, type ServiceApp, type ServiceContext } from "@vestibule/service/app";
import { readJson } from "@vestibule/service/json-body";
import type { Mint } from "../mint.ts";
import type { PublishedKeys } from "../keys/key-ring.ts";
import { unavailable } from "../unavailable.ts";

export interface LineRoutes {
  readonly mint: Mint;
  /** `undefined` until keys were read. */
  readonly keys: () => PublishedKeys | undefined;
}

export function addLineRoutes(app: ServiceApp, { mint, keys }: LineRoutes): void {
  app.get("/.well-known/jwks.json", (context) => {
    const published = keys();
    if (published === undefined) throw unavailable("no keys were read yet");
    const headers = {
      "Content-Type": "application/jwk-set+json",
      "Cache-Control": `public, max-age=${JWKS_REFRESH_MS / 1_000}`,
      ETag: published.etag,
    };
    if (context.req.header("If-None-Match") === published.etag) {
      return context.body(null, 304, headers);
    }
    return context.body(published.jwks, 200, headers);
  });

  app.get("/v1/manifest", async (context) => statement(context, await mint.leading().manifest()));

  app.get("/v1/events/:event/drip", async (context) => {
    const entry = mint.entry(context.req.param("event"));
    return statement(context, await mint.leading().drip(entry));
  });

  // The fast path takes these first; here they are for the other methods, and for whoever has no fast path.
  app.post("/v1/events/:event/tickets", async (context) => {
    const { event } = context.req.param();
    mint.entry(event);
    const { fresh, answer } = await mint.join(
      event,
      await readJson(context.req.raw, joinRequestSchema),
    );
    return noStore(context, fresh ? 201 : 200, answer);
  });

  app.post("/v1/events/:event/admissions", async (context) => {
    const { event } = context.req.param();
    mint.entry(event);
    const body = await readJson(context.req.raw, claimRequestSchema);
    return noStore(context, 201, await mint.claim(event, body));
  });
}

/** A statement is no secret, but whoever relays it wants the newest. */
function statement(context: ServiceContext, text: string): Response {
  return context.body(text, 200, {
    "Content-Type": STATEMENT_MEDIA_TYPE,
    "Cache-Control": "no-store",
  });
}

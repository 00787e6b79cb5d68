/** Events that are over for long leave the live tables. Behind the admin token, as all of `/v1/admin`. */
import type { ArchiveAnswer } from "@vestibule/contracts/archive-api";
import { noStore, type ServiceApp } from "@vestibule/service/app";
import { problem } from "@vestibule/service/problems";
import { ARCHIVE_CALLS_MAX, ARCHIVE_ROWS_MAX } from "../limits.ts";
import { archiveEvent } from "../line/archive.ts";
import type { Mint } from "../mint.ts";
import type { MintStore } from "../store/store.ts";
import { ACTOR } from "./actor.ts";
import { assertJson } from "./assert-json.ts";

export function addArchiveRoutes(
  app: ServiceApp,
  { mint, store }: { readonly mint: Mint; readonly store: MintStore },
): void {
  app.post("/v1/admin/events/:event/archive", async (context) => {
    assertJson(context);
    const { event } = context.req.param();
    const term = mint.leading();
    const entry = term.entry(event);
    // Known here, it may be archived all the same: by an earlier call whose answer was lost.
    const isLost = entry !== undefined && (await store.findArchived(event)) !== undefined;
    if (entry !== undefined && !isLost) await archiveEvent(entry.line, { actor: ACTOR });
    term.forget(event);
    const archived = await store.findArchived(event);
    if (archived === undefined) throw problem("event-not-found");
    let deleted = 0;
    let last = ARCHIVE_ROWS_MAX;
    for (let call = 0; call < ARCHIVE_CALLS_MAX && last >= ARCHIVE_ROWS_MAX; call += 1) {
      last = await store.clearArchived(event, ARCHIVE_ROWS_MAX);
      deleted += last;
    }
    const { at: archivedAt, figures } = archived;
    const done = last < ARCHIVE_ROWS_MAX;
    return noStore(context, 200, {
      event,
      archivedAt,
      figures,
      deleted,
      done,
    } satisfies ArchiveAnswer);
  });
}

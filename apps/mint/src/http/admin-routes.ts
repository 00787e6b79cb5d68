/** The organizer's API. Only a leader answers it; every deed leaves a line in the audit log. */
import {
  type EventChange,
  eventChangeSchema,
  type EventSettings,
  eventSettingsSchema,
  holdSchema,
} from "@vestibule/contracts/event-settings";
import { EVENTS_MAX } from "@vestibule/contracts/limits";
import type { Mistake } from "@vestibule/contracts/parse";
import type { Clock } from "@vestibule/kernel/clock";
import { noStore, type ServiceApp, type ServiceContext } from "@vestibule/service/app";
import { assertBearer } from "@vestibule/service/bearer";
import { problem } from "@vestibule/service/problems";
import type { Secret } from "@vestibule/service/secret";
import * as z from "zod/mini";
import type { LineEntry } from "../lead/line-term.ts";
import {
  assertVersion,
  changeSettings,
  type Deed,
  declareSoldout,
  end,
  hold,
  resume,
  routeMistakes,
} from "../line/organizer.ts";
import { bypassMistakes } from "../line/bypass.ts";
import { previewChange } from "../line/preview.ts";
import type { EventLine } from "../line/event-line.ts";
import { keptLooks, looksMistakes } from "../line/event-looks.ts";
import { changedEvent, changeMistakes, settingsMistakes } from "../line/settings-change.ts";
import type { Mint } from "../mint.ts";
import { ACTOR } from "./actor.ts";
import { assertJson } from "./assert-json.ts";
import { eventView } from "./event-view.ts";
import { etagOf, expectedVersion, neededVersion } from "./version-tag.ts";
import { readSettings } from "./read-settings.ts";
import { refusedSettings } from "./refused-settings.ts";

export interface AdminRoutes {
  readonly mint: Mint;
  readonly clock: Clock;
  readonly token: Secret;
}

const EVENTS = "/v1/admin/events";

export function addAdminRoutes(app: ServiceApp, { mint, clock, token }: AdminRoutes): void {
  app.use("/v1/admin/*", async (context, next) => {
    assertBearer(context.req.header("Authorization"), token);
    await next();
  });

  const answer = async (
    context: ServiceContext,
    entry: LineEntry,
    status = 200,
  ): Promise<Response> => {
    const view = await eventView(entry, clock.now());
    context.header("ETag", etagOf(view.version));
    return noStore(context, status, view);
  };

  app.get(EVENTS, async (context) => {
    const views = [];
    for (const entry of mint.leading().events) views.push(await eventView(entry, clock.now()));
    return noStore(context, 200, { events: views });
  });

  app.post(EVENTS, async (context) => {
    const term = mint.leading();
    const records = term.events.map(({ line }) => line.record);
    const now = clock.now();
    const related = (good: Partial<EventSettings>): readonly Mistake[] => [
      ...settingsMistakes(good, now),
      ...looksMistakes(good),
      ...bypassMistakes(good),
      // Asked for again, it is not its own rival.
      ...(term.entry(good.event ?? "") === undefined ? routeMistakes(good, records, now) : []),
    ];
    const read = await readSettings(context, eventSettingsSchema, related);
    refuseMistakes(related(read));
    const settings = { ...read, ...keptLooks(read) };
    if (term.entry(settings.event) !== undefined) throw problem("event-exists");
    if (term.events.length >= EVENTS_MAX) {
      throw problem("conflict", { detail: `One mint has at most ${EVENTS_MAX} events` });
    }
    const audit = { actor: ACTOR, action: "create", detail: settings };
    const created = await term.room.take(settings, () => term.create(settings, now, audit));
    if (!created) throw problem("event-exists");
    context.header("Location", `${EVENTS}/${settings.event}`);
    return answer(context, mint.entry(settings.event), 201);
  });

  app.get(`${EVENTS}/:event`, (context) => answer(context, mint.entry(context.req.param("event"))));

  app.patch(`${EVENTS}/:event`, async (context) => {
    const entry = mint.entry(context.req.param("event"));
    const version = neededVersion(context);
    const change = await readChange(context, entry.line);
    assertVersion(entry.line.record, version);
    const { settings } = changedEvent(entry.line.record, change, clock.now());
    const { room } = mint.leading();
    await room.take(settings, () => changeSettings(entry.line, change, { actor: ACTOR, version }));
    return changed(context, entry);
  });

  app.post(`${EVENTS}/:event/preview`, async (context) => {
    const { line } = mint.entry(context.req.param("event"));
    const version = neededVersion(context);
    const change = await readChange(context, line);
    const now = clock.now();
    const preview = previewChange(line, change, { version, now });
    refuseMistakes(mint.leading().room.mistakes(changedEvent(line.record, change, now).settings));
    context.header("ETag", etagOf(preview.version));
    return noStore(context, 200, preview);
  });

  const deeds: Readonly<
    Record<string, (entry: LineEntry, context: ServiceContext, deed: Deed) => Promise<void>>
  > = {
    hold: async ({ line }, context, deed) =>
      hold(line, await readOptional(context, holdSchema), deed),
    resume: ({ line }, _context, deed) => resume(line, deed),
    soldout: ({ line }, _context, deed) => declareSoldout(line, deed),
    end: ({ line }, _context, deed) => end(line, deed),
  };
  for (const [name, perform] of Object.entries(deeds)) {
    app.post(`${EVENTS}/:event/${name}`, async (context) => {
      const entry = mint.entry(context.req.param("event") ?? "");
      assertJson(context);
      await perform(entry, context, { actor: ACTOR, version: expectedVersion(context) });
      return changed(context, entry);
    });
  }

  async function readChange(context: ServiceContext, { record }: EventLine): Promise<EventChange> {
    const beside = (good: EventChange): readonly Mistake[] =>
      changeMistakes(record, good, clock.now());
    const { looks, ...change } = await readSettings(context, eventChangeSchema, beside);
    const { accent } = record.settings;
    return looks === undefined ? change : { ...change, looks, ...keptLooks({ looks, accent }) };
  }

  function changed(context: ServiceContext, entry: LineEntry): Promise<Response> {
    const term = mint.leading();
    term.changed();
    term.tickSoon(entry, 0);
    return answer(context, entry);
  }
}

/** A body that is not there means all defaults. */
async function readOptional<Schema extends z.ZodMiniObject>(
  context: ServiceContext,
  schema: Schema,
): Promise<z.output<Schema>> {
  if (context.req.header("Content-Type") === undefined) return z.parse(schema, {});
  return readSettings(context, schema);
}

function refuseMistakes(mistakes: readonly Mistake[]): void {
  if (mistakes.length > 0) throw refusedSettings(mistakes);
}

/** The part of the OpenAPI document that is about what organizers do to events. */
import {
  eventChangeSchema,
  type EventSettings,
  eventSettingsSchema,
  holdSchema,
} from "@vestibule/contracts/event-settings";
import { previewSchema } from "@vestibule/contracts/preview-api";
import { EVENT_STATES } from "@vestibule/contracts/statements";
import type { EventView } from "./event-view.ts";
import {
  admin,
  body,
  count,
  json,
  type Json,
  moment,
  object,
  problems,
  ref,
  schemaOf,
} from "./openapi-parts.ts";

const EVENT_PARAMETER: Json = { $ref: "#/components/parameters/event" };
const IF_MATCH: Json = { $ref: "#/components/parameters/ifMatch" };
const ETAG: Json = {
  ETag: { description: "The event's version", required: true, schema: { type: "string" } },
};

const CHANGE_PROBLEMS = [
  "bad-request",
  "unauthorized",
  "event-not-found",
  "event-ended",
  "version-mismatch",
  "body-too-large",
  "unsupported-media-type",
  "invalid-settings",
  "precondition-required",
  "unavailable",
] as const;

export function eventPaths(): Json {
  return {
    "/v1/admin/events": {
      get: {
        ...admin,
        operationId: "listEvents",
        summary: "Every event",
        responses: {
          "200": json(
            {
              type: "object",
              required: ["events"],
              properties: { events: { type: "array", items: ref("Event") } },
            },
            "In the order of their creation",
          ),
          ...problems("unauthorized", "unavailable"),
        },
      },
      post: {
        ...admin,
        operationId: "createEvent",
        summary: "Create an event",
        requestBody: body("EventSettings"),
        responses: {
          "201": event("Created"),
          ...problems(
            "bad-request",
            "unauthorized",
            "event-exists",
            "conflict",
            "body-too-large",
            "unsupported-media-type",
            "invalid-settings",
            "unavailable",
          ),
        },
      },
    },
    "/v1/admin/events/{event}": {
      get: {
        ...admin,
        operationId: "readEvent",
        summary: "Settings, state and figures of one event",
        parameters: [EVENT_PARAMETER],
        responses: {
          "200": event("The event"),
          ...problems("unauthorized", "event-not-found", "unavailable"),
        },
      },
      patch: {
        ...admin,
        operationId: "changeEvent",
        summary: "Change what may change while the sale runs",
        parameters: [EVENT_PARAMETER, IF_MATCH],
        requestBody: body("EventChange"),
        responses: {
          "200": event("The event as it is now"),
          ...problems(...CHANGE_PROBLEMS),
        },
      },
    },
    "/v1/admin/events/{event}/preview": {
      post: {
        ...admin,
        operationId: "previewChange",
        summary:
          "What a change would do, and when; the same is refused as by PATCH, and nothing is written",
        parameters: [EVENT_PARAMETER, IF_MATCH],
        requestBody: body("EventChange"),
        responses: {
          "200": json(ref("Preview"), "The drip ahead, without and with the change", ETAG),
          ...problems(...CHANGE_PROBLEMS),
        },
      },
    },
    "/v1/admin/events/{event}/hold": deed("hold", "Nobody new enters from now on", {
      requestBody: body("Hold", false),
    }),
    "/v1/admin/events/{event}/resume": deed(
      "resume",
      "The drip goes on; places that the hold cut come first",
    ),
    "/v1/admin/events/{event}/soldout": deed("declareSoldout", "No further slot is committed"),
    "/v1/admin/events/{event}/end": deed("endEvent", "For good: nobody joins or claims any more"),
  };
}

export function eventSchemas(): Json {
  const settings = schemaOf(eventSettingsSchema);
  return {
    EventSettings: settings,
    EventChange: schemaOf(eventChangeSchema),
    Preview: schemaOf(previewSchema),
    Hold: schemaOf(holdSchema),
    Event: eventSchema(settings),
  };
}

/** Settings, plus what `http/event-view.ts` adds: all of it. */
function eventSchema(settings: Json): Json {
  const always = {
    state: { type: "string", enum: [...EVENT_STATES] },
    createdAt: moment,
    ...{ version: count, issued: count, highestNumber: count, waiting: count, upcoming: count },
    ...{ committed: count, granted: count, serving: count, claimed: count, lapsed: count },
    rate: count,
  };
  const added = {
    ...always,
    heldSince: moment,
    heldScope: { type: "string", enum: ["entries", "all"] },
    heldReason: { type: "string" },
    soldoutAt: moment,
    endedAt: moment,
    archivableAt: moment,
    supplySoldOutAt: moment,
    supplyLeft: count,
    lastCall: object({ from: moment, until: moment }),
    failingSince: moment,
  } satisfies Record<Exclude<keyof EventView, keyof EventSettings>, Json>;
  return {
    type: "object",
    required: [...(settings["required"] as readonly string[]), ...Object.keys(always)],
    properties: { ...(settings["properties"] as Json), ...added },
  };
}

const event = (description: string): Json => json(ref("Event"), description, ETAG);

function deed(operationId: string, summary: string, extra: Json = {}): Json {
  return {
    post: {
      ...admin,
      operationId,
      summary,
      parameters: [EVENT_PARAMETER, IF_MATCH],
      ...extra,
      responses: {
        "200": event("The event as it is now"),
        ...problems(
          "unauthorized",
          "event-not-found",
          "conflict",
          "event-ended",
          "version-mismatch",
          "unsupported-media-type",
          "invalid-settings",
          "unavailable",
        ),
      },
    },
  };
}

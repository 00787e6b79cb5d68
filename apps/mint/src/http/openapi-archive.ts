/** The part of the OpenAPI document that is about events that are over for long. */
import { archiveAnswerSchema } from "@vestibule/contracts/archive-api";
import { admin, json, type Json, problems, ref, schemaOf } from "./openapi-parts.ts";

export function archivePaths(): Json {
  return {
    "/v1/admin/events/{event}/archive": {
      post: {
        ...admin,
        operationId: "archiveEvent",
        summary: "For good: its rows go, its figures and its lines of the audit log stay",
        description:
          "From `archivableAt` of the event on. One call deletes a bounded number of rows: ask again until it is `done`.",
        parameters: [{ $ref: "#/components/parameters/event" }],
        responses: {
          "200": json(ref("ArchiveAnswer"), "What is left of it"),
          ...problems(
            "unauthorized",
            "event-not-found",
            "conflict",
            "unsupported-media-type",
            "unavailable",
          ),
        },
      },
    },
  };
}

export function archiveSchemas(): Json {
  return { ArchiveAnswer: schemaOf(archiveAnswerSchema) };
}

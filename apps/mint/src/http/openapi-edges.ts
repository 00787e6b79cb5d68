/** The part of the OpenAPI document that is about clocks and metrics. */
import {
  clockAnswerSchema,
  clockReportSchema,
  edgesViewSchema,
  locationSchema,
} from "@vestibule/contracts/edges-api";
import { admin, body, json, type Json, problems, ref, schemaOf } from "./openapi-parts.ts";

export function edgePaths(): Json {
  return {
    "/v1/edges/{location}/clock": {
      post: {
        tags: ["line"],
        security: [],
        operationId: "askTime",
        summary: "The mint's clock, signed for one question, and what the last answers came to",
        description:
          "Only the mint that leads answers: by its clock slots open and tokens are signed. Whoever asks bounds the time by their own round trip.",
        parameters: [
          { name: "location", in: "path", required: true, schema: schemaOf(locationSchema) },
        ],
        requestBody: body("ClockReport"),
        responses: {
          "200": json(ref("ClockAnswer"), "`time` is a `vst-time+jwt` with the nonce"),
          ...problems(
            "bad-request",
            "body-too-large",
            "unsupported-media-type",
            "invalid-settings",
            "too-many-requests",
            "unavailable",
          ),
        },
      },
    },
    "/v1/admin/edges": {
      get: {
        ...admin,
        operationId: "listEdges",
        summary: "Clocks of the locations that reported within ten minutes, and the mint's own",
        responses: {
          "200": json(ref("Edges"), "By location, then by sender"),
          ...problems("unauthorized", "unavailable"),
        },
      },
    },
    "/metrics": {
      get: {
        tags: ["metrics"],
        security: [{ metricsToken: [] }],
        operationId: "readMetrics",
        summary: "This mint's figures for Prometheus; a standby answers too",
        responses: {
          "200": {
            description: "The text format of Prometheus",
            content: { "text/plain": { schema: { type: "string" } } },
          },
          ...problems("unauthorized"),
        },
      },
    },
  };
}

export function edgeSchemas(): Json {
  return {
    ClockReport: schemaOf(clockReportSchema),
    ClockAnswer: schemaOf(clockAnswerSchema),
    Edges: schemaOf(edgesViewSchema),
  };
}

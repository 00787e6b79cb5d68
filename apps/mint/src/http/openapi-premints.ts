/** The part of the OpenAPI document that is about places given beforehand. */
import {
  PREMINT_BATCH_NAME,
  premintClaimsAnswerSchema,
  premintClaimsRequestSchema,
  premintAnswerSchema,
  premintRequestSchema,
} from "@vestibule/contracts/premint-api";
import { admin, body, json, type Json, problems, ref, schemaOf } from "./openapi-parts.ts";

const PARAMETERS: readonly Json[] = [
  { $ref: "#/components/parameters/event" },
  {
    name: "batch",
    in: "path",
    required: true,
    description: "Random, chosen by whoever asks",
    schema: { type: "string", pattern: PREMINT_BATCH_NAME.source },
  },
];

export function premintPaths(): Json {
  return {
    "/v1/admin/events/{event}/premints/{batch}": {
      put: {
        ...admin,
        operationId: "premint",
        summary: "Tickets for a batch of people, beforehand",
        description:
          "The same batch asked again has the same numbers: they are on record before anything is signed. Another batch name is another batch, also for the same people.",
        parameters: PARAMETERS,
        requestBody: body("PremintRequest"),
        responses: {
          "200": json(ref("PremintAnswer"), "The number of the first, and each one's ticket"),
          ...problems(
            "bad-request",
            "unauthorized",
            "event-not-found",
            "conflict",
            "sold-out",
            "event-ended",
            "body-too-large",
            "unsupported-media-type",
            "invalid-settings",
            "unavailable",
          ),
        },
      },
    },
    "/v1/admin/events/{event}/premints/{batch}/admissions": {
      post: {
        ...admin,
        operationId: "claimPremint",
        summary: "Claims for people of such a batch",
        description:
          "For each of them what their own claim would have come to. A slot must be committed before it is claimed, and a claim asked again has the same admission.",
        parameters: PARAMETERS,
        requestBody: body("PremintClaimsRequest"),
        responses: {
          "200": json(ref("PremintClaimsAnswer"), "Admissions and refusals, in the order asked"),
          ...problems(
            "bad-request",
            "unauthorized",
            "not-found",
            "event-not-found",
            "conflict",
            "event-ended",
            "body-too-large",
            "unsupported-media-type",
            "invalid-settings",
            "unavailable",
          ),
        },
      },
    },
  };
}

export function premintSchemas(): Json {
  return {
    PremintRequest: schemaOf(premintRequestSchema),
    PremintAnswer: schemaOf(premintAnswerSchema),
    PremintClaimsRequest: schemaOf(premintClaimsRequestSchema),
    PremintClaimsAnswer: schemaOf(premintClaimsAnswerSchema),
  };
}

/** The part of the OpenAPI document that is about tokens of services. */
import { SERVICE_TOKEN_SLACK_SECONDS } from "@vestibule/contracts/limits";
import {
  serviceTokenAnswerSchema,
  serviceTokenRequestSchema,
} from "@vestibule/contracts/service-api";
import { admin, body, json, type Json, problems, ref, schemaOf } from "./openapi-parts.ts";

export function servicePaths(): Json {
  return {
    "/v1/admin/events/{event}/service-tokens": {
      post: {
        ...admin,
        operationId: "makeServiceToken",
        summary: "A token for a service that passes without a place, where a bypass rule names it",
        description: `Without an end of its own it is good until the event's end and ${SERVICE_TOKEN_SLACK_SECONDS} s, and never longer. It is said once and kept nowhere; the audit log has its name and its \`jti\`. Whoever asks again gets another one, and both are good.`,
        parameters: [{ $ref: "#/components/parameters/event" }],
        requestBody: body("ServiceTokenRequest"),
        responses: {
          "201": json(ref("ServiceTokenAnswer"), "The token, and which rules name the service"),
          ...problems(
            "bad-request",
            "unauthorized",
            "event-not-found",
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

export function serviceSchemas(): Json {
  return {
    ServiceTokenRequest: schemaOf(serviceTokenRequestSchema),
    ServiceTokenAnswer: schemaOf(serviceTokenAnswerSchema),
  };
}

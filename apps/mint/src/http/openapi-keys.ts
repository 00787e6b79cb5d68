/** The key administration's part of the OpenAPI document. */
import {
  keyOutcomeSchema,
  keyStepSchema,
  keysViewSchema,
  stageKeySchema,
} from "@vestibule/contracts/keys-api";
import type { ProblemCode } from "@vestibule/contracts/problems";
import { admin, body, json, type Json, problems, ref, schemaOf } from "./openapi-parts.ts";

export function keyPaths(): Json {
  const step = (operationId: string, summary: string, ...codes: readonly ProblemCode[]): Json => ({
    post: {
      ...admin,
      operationId,
      summary,
      description: "Asked again it changes nothing and says so (`changed: false`).",
      parameters: [{ name: "kid", in: "path", required: true, schema: { type: "string" } }],
      requestBody: body("KeyStep", false),
      responses: {
        "200": json(ref("KeyOutcome"), "The key as it is now"),
        ...problems(
          "bad-request",
          "unauthorized",
          "key-not-found",
          ...codes,
          "body-too-large",
          "unsupported-media-type",
          "unavailable",
        ),
      },
    },
  });
  return {
    "/v1/admin/keys": {
      get: {
        ...admin,
        operationId: "listKeys",
        summary: "Every key, its state, and when its next step is safe",
        responses: {
          "200": json(
            ref("Keys"),
            "Keys of the line, then of admissions, in the order of their making. Moments are epoch milliseconds",
            {
              ETag: {
                description: "Number of the key set",
                required: true,
                schema: { type: "string" },
              },
            },
          ),
          ...problems("unauthorized", "unavailable"),
        },
      },
      post: {
        ...admin,
        operationId: "stageKey",
        summary:
          "Make a key and publish it; asked again it makes another, unless If-Match says what was seen",
        parameters: [{ $ref: "#/components/parameters/ifMatch" }],
        requestBody: body("StageKey"),
        responses: {
          "201": json(ref("KeyOutcome"), "The new key"),
          ...problems(
            "bad-request",
            "unauthorized",
            "conflict",
            "version-mismatch",
            "body-too-large",
            "unsupported-media-type",
            "unavailable",
          ),
        },
      },
    },
    "/v1/admin/keys/{kid}/activate": step(
      "activateKey",
      "A staged key signs from now on; the one before retires",
      "conflict",
      "not-yet-safe",
    ),
    "/v1/admin/keys/{kid}/retire": step(
      "retireKey",
      "A retiring key verifies no more",
      "conflict",
      "not-yet-safe",
    ),
    "/v1/admin/keys/{kid}/revoke": step(
      "revokeKey",
      "For a leak: nothing that it signed is good any more, at once; the next key signs",
    ),
  };
}

export function keySchemas(): Json {
  return {
    StageKey: schemaOf(stageKeySchema),
    KeyStep: schemaOf(keyStepSchema),
    KeyOutcome: schemaOf(keyOutcomeSchema),
    Keys: schemaOf(keysViewSchema),
  };
}

/** The key administration's part of the OpenAPI document. */
import { keyStepSchema, stageKeySchema } from "@vestibule/contracts/keys-api";
import { SIGNING_NAMES } from "@vestibule/keys/public-key";
import type { ProblemCode } from "@vestibule/contracts/problems";
import type { Json, OpenApiParts } from "./openapi-parts.ts";

const STATES = ["staged", "signing", "retiring", "retired", "revoked"];
const USES = ["line", "admission"];

export function keyPaths({ admin, json, problems, ref, body }: OpenApiParts): Json {
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
            "Keys of the line, then of admissions, in the order of their making",
          ),
          ...problems("unauthorized", "unavailable"),
        },
      },
      post: {
        ...admin,
        operationId: "stageKey",
        summary: "Make a key and publish it; asked again it makes another",
        requestBody: body("StageKey"),
        responses: {
          "201": json(ref("KeyOutcome"), "The new key"),
          ...problems(
            "bad-request",
            "unauthorized",
            "conflict",
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

export function keySchemas({ schemaOf, object, moment, count, ref }: OpenApiParts): Json {
  const view = object({
    kid: { type: "string" },
    use: { type: "string", enum: USES },
    alg: { type: "string", enum: [...SIGNING_NAMES] },
    state: { type: "string", enum: STATES },
    since: moment,
    createdAt: moment,
  });
  const policy = object({
    ...{ jwksCacheSeconds: count, skewSeconds: count, propagationSeconds: count },
    ...{ tokenLifeSecondsMax: count, stagedSeconds: count, retiringSeconds: count, keysMax: count },
    signForSeconds: { type: ["integer", "null"], minimum: 0 },
  });
  return {
    StageKey: schemaOf(stageKeySchema),
    KeyStep: schemaOf(keyStepSchema),
    Key: {
      ...view,
      properties: {
        ...(view["properties"] as Json),
        unrestricted: { type: "boolean" },
        until: moment,
        next: {
          type: "object",
          required: ["step", "safeFrom", "isSafe"],
          properties: {
            step: { type: "string", enum: ["activate", "retire"] },
            ...{ safeFrom: moment, isSafe: { type: "boolean" }, dueAt: moment },
          },
        },
      },
    },
    KeyOutcome: object({ changed: { type: "boolean" }, seq: count, key: ref("Key") }),
    Keys: object({
      serverTime: moment,
      seq: count,
      policies: object({ line: policy, admission: policy }),
      frozenBy: { type: "array", items: { type: "string" } },
      keys: { type: "array", items: ref("Key") },
    }),
  };
}

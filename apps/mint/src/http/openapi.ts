/** The mint's HTTP interface as OpenAPI 3.1, made from the schemas that read it. */
import { claimRequestSchema, joinRequestSchema } from "@vestibule/contracts/line-api";
import { STATEMENT_MEDIA_TYPE } from "@vestibule/contracts/names";
import { PROBLEM_TYPE_PREFIX, PROBLEMS } from "@vestibule/contracts/problems";
import { slugSchema } from "@vestibule/contracts/slug";
import { supplyReportSchema } from "@vestibule/contracts/supply-api";
import { archivePaths, archiveSchemas } from "./openapi-archive.ts";
import { edgePaths, edgeSchemas } from "./openapi-edges.ts";
import { eventPaths, eventSchemas } from "./openapi-events.ts";
import { keyPaths, keySchemas } from "./openapi-keys.ts";
import { premintPaths, premintSchemas } from "./openapi-premints.ts";
import { servicePaths, serviceSchemas } from "./openapi-services.ts";
import {
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

function jwt(description: string): Json {
  return { description, content: { [STATEMENT_MEDIA_TYPE]: { schema: { type: "string" } } } };
}

const EVENT_PARAMETER: Json = { $ref: "#/components/parameters/event" };
const LINE: Json = { tags: ["line"], security: [] };

/** @returns a document for `GET /openapi.json`. */
export function openApiDocument(): Json {
  return {
    openapi: "3.1.0",
    info: {
      title: "Vestibule mint",
      version: "1",
      summary: "Numbers, the drip, keys and signatures of every line",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    tags: [
      { name: "line", description: "What edges ask" },
      { name: "admin", description: "What organizers do" },
      { name: "supply", description: "What the purchase API reports" },
      { name: "metrics", description: "What Prometheus collects" },
    ],
    paths: {
      ...linePaths(),
      ...eventPaths(),
      ...keyPaths(),
      ...premintPaths(),
      ...servicePaths(),
      ...archivePaths(),
      ...supplyPaths(),
      ...edgePaths(),
    },
    components: {
      securitySchemes: {
        adminToken: { type: "http", scheme: "bearer" },
        supplyToken: { type: "http", scheme: "bearer" },
        metricsToken: { type: "http", scheme: "bearer" },
      },
      parameters: {
        event: { name: "event", in: "path", required: true, schema: schemaOf(slugSchema) },
        ifMatch: {
          name: "If-Match",
          in: "header",
          required: false,
          description:
            "The ETag that was read: somebody else's change in between is answered with 412",
          schema: { type: "string" },
        },
      },
      schemas: schemas(),
    },
  };
}

function linePaths(): Json {
  return {
    "/.well-known/jwks.json": {
      get: {
        ...LINE,
        operationId: "readKeys",
        summary: "The public keys (RFC 7517); `seq` only grows",
        responses: {
          "200": {
            description: "The key set; cacheable",
            content: { "application/jwk-set+json": { schema: { type: "object" } } },
          },
          "304": { description: "Unchanged" },
          ...problems("unavailable"),
        },
      },
    },
    "/v1/manifest": {
      get: {
        ...LINE,
        operationId: "readManifest",
        summary: "Which hosts and paths belong to which event, signed",
        responses: { "200": jwt("`vst-manifest+jwt`"), ...problems("unavailable") },
      },
    },
    "/v1/events/{event}/drip": {
      get: {
        ...LINE,
        operationId: "readDrip",
        summary: "State and committed drip of one event, signed",
        parameters: [EVENT_PARAMETER],
        responses: { "200": jwt("`vst-drip+jwt`"), ...problems("event-not-found", "unavailable") },
      },
    },
    "/v1/events/{event}/tickets": {
      post: {
        ...LINE,
        operationId: "join",
        summary: "A place in line",
        parameters: [EVENT_PARAMETER],
        requestBody: body("JoinRequest"),
        responses: {
          "200": json(ref("JoinAnswer"), "The place that this visitor has already"),
          "201": json(ref("JoinAnswer"), "A new place"),
          ...problems(
            "bad-request",
            "event-not-found",
            "sold-out",
            "event-ended",
            "body-too-large",
            "unsupported-media-type",
            "too-early",
            "unavailable",
          ),
        },
      },
    },
    "/v1/events/{event}/admissions": {
      post: {
        ...LINE,
        operationId: "claim",
        summary: "The admission for a place whose slot is committed",
        description:
          'A `credit` counts when the slot is over: the place gets the next one, and the 425 says `creditUsed: true`. While the drip says `presence: "confirm"`, a claim that would be recorded needs `confirmed: true`, or it is answered 409 `confirm-presence` with the slot\'s times.',
        parameters: [EVENT_PARAMETER],
        requestBody: body("ClaimRequest"),
        responses: {
          "201": json(ref("ClaimAnswer"), "The admission; asked again, the same one"),
          ...problems(
            "bad-request",
            "forbidden",
            "event-not-found",
            "sold-out",
            "confirm-presence",
            "slot-over",
            "event-ended",
            "body-too-large",
            "unsupported-media-type",
            "too-early",
            "held",
            "unavailable",
          ),
        },
      },
    },
  };
}

function supplyPaths(): Json {
  return {
    "/v1/supply/events/{event}": {
      put: {
        tags: ["supply"],
        security: [{ supplyToken: [] }],
        operationId: "reportSupply",
        summary:
          "Whether anything is left, and for long; a report that is not newer changes nothing",
        parameters: [EVENT_PARAMETER],
        requestBody: body("SupplyReport"),
        responses: {
          "204": { description: "Heard" },
          ...problems(
            "bad-request",
            "unauthorized",
            "event-not-found",
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

function schemas(): Json {
  return {
    JoinRequest: schemaOf(joinRequestSchema),
    ClaimRequest: schemaOf(claimRequestSchema),
    SupplyReport: schemaOf(supplyReportSchema),
    JoinAnswer: object({
      event: { type: "string" },
      number: count,
      issuedAt: moment,
      ticket: { type: "string" },
    }),
    ClaimAnswer: object({ opensAt: moment, closesAt: moment, admission: { type: "string" } }),
    ...eventSchemas(),
    ...keySchemas(),
    ...premintSchemas(),
    ...serviceSchemas(),
    ...archiveSchemas(),
    ...edgeSchemas(),
    Problem: {
      ...object({
        type: {
          type: "string",
          enum: Object.keys(PROBLEMS).map((code) => PROBLEM_TYPE_PREFIX + code),
        },
        title: { type: "string" },
        status: { type: "integer" },
      }),
      description: "RFC 9457; decide by `type`",
    },
  };
}

/** Tokens of services: what passes a protected path without a place, where a bypass rule names it (ADR 18). */
import * as z from "zod/mini";
import { SERVICE_TOKEN_SECONDS_MIN } from "./limits.ts";
import { slugSchema } from "./slug.ts";

/** The year 9999. */
const SECONDS_MAX = 253_402_300_799;

/**
 * The body of `POST /v1/admin/events/{event}/service-tokens`. Without an end of its own a token is good until the event's
 * end and `SERVICE_TOKEN_SLACK_SECONDS`, and never longer.
 */
export const serviceTokenRequestSchema = z
  .strictObject({
    /** As the rules name it. */
    name: slugSchema,
    lifetimeSeconds: z.optional(
      z.int().check(z.gte(SERVICE_TOKEN_SECONDS_MIN), z.lte(SECONDS_MAX)),
    ),
    /** Epoch milliseconds; the token ends with its whole second. */
    expiresAt: z.optional(z.int().check(z.gte(0), z.lte(SECONDS_MAX * 1_000))),
  })
  .check(
    z.refine(
      ({ lifetimeSeconds, expiresAt }) => lifetimeSeconds === undefined || expiresAt === undefined,
      { path: ["expiresAt"], message: "Say one of lifetimeSeconds and expiresAt" },
    ),
  );
export type ServiceTokenRequest = z.infer<typeof serviceTokenRequestSchema>;

/** The answer. The mint keeps the token nowhere: it is said once. */
export const serviceTokenAnswerSchema = z.object({
  event: z.string(),
  name: z.string(),
  /** A `vst-service+jwt`. */
  token: z.string(),
  /** Names the token in the audit log. */
  jti: z.string(),
  /** Epoch milliseconds, a whole second. */
  expiresAt: z.int(),
  /** Places, from 0, of the event's bypass rules that name the service; none: it opens nothing yet. */
  rules: z.array(z.int()),
});
export type ServiceTokenAnswer = z.infer<typeof serviceTokenAnswerSchema>;

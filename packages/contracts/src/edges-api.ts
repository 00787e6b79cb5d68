/** Clocks of the locations: what each reports to the mint, and what an operator is shown. */
import * as z from "zod/mini";
import {
  LOCATION_CHARS_MAX,
  PASSES_COUNT_MAX,
  PASSES_PER_REPORT_MAX,
  ROUTES_PER_EVENT_MAX,
  SKEW_SECONDS_MAX,
} from "./limits.ts";
import { slugSchema } from "./slug.ts";

/** A location's name, part of the path: letters, digits, `.`, `_`, `-`. */
export const locationSchema = z
  .string()
  .check(
    z.minLength(1),
    z.maxLength(LOCATION_CHARS_MAX),
    z.regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "Letters, digits, dots, underscores and hyphens"),
  );

/** 128 bits or more, base64url: a question's nonce. */
export const NONCE_TEXT = /^[\w-]{22,64}$/;

/** What a location makes of its own clock. */
export const CLOCK_STATES = ["unknown", "good", "warn", "wrong"] as const;
export type ClockState = (typeof CLOCK_STATES)[number];

/** The location's clock less the mint's, milliseconds: surely within `offsetMs ± uncertaintyMs`. */
const estimateSchema = z.strictObject({
  offsetMs: z.int().check(z.gte(-1e13), z.lte(1e13)),
  uncertaintyMs: z.int().check(z.gte(0), z.lte(1e13)),
});
export type ClockEstimate = z.infer<typeof estimateSchema>;

/** How often one bypass rule of one event let a request pass; `rule` is its place among the event's rules, from 0. */
const passesSchema = z.strictObject({
  event: slugSchema,
  rule: z.int().check(z.gte(0), z.lt(ROUTES_PER_EVENT_MAX)),
  count: z.int().check(z.gte(1), z.lte(PASSES_COUNT_MAX)),
});
export type Passes = z.infer<typeof passesSchema>;

/**
 * `POST {mint}/v1/edges/{location}/clock`: asks for the mint's time, and tells what the last answers came to. Nobody
 * is authenticated; 200 `{time}`, 429 when one sender asks too often, 422 for anything malformed, 503 from a mint that
 * is too busy or does not lead: only the clock that signs tickets and admissions counts, so the next mint is asked.
 * Never cached.
 */
export const clockReportSchema = z.strictObject({
  /** New for each question: an old answer cannot be mistaken for this one's. */
  nonce: z.string().check(z.regex(NONCE_TEXT)),
  state: z.enum(CLOCK_STATES),
  estimate: z.optional(estimateSchema),
  /** `seq` of the key set that the location has: how far a rotation has come. */
  keysSeq: z.optional(z.int().check(z.gte(0))),
  skewSeconds: z.int().check(z.gte(0), z.lte(SKEW_SECONDS_MAX)),
  /** Since this isolate's last report that was answered. Only to a mint whose last answer said that it takes them. */
  passes: z.optional(z.array(passesSchema).check(z.maxLength(PASSES_PER_REPORT_MAX))),
});
export type ClockReport = z.infer<typeof clockReportSchema>;

/** The answer: `time` is a `vst-time+jwt`. `takes`: members that the next report may have; a mint from before refuses them. */
export const clockAnswerSchema = z.object({
  time: z.string(),
  takes: z.optional(z.array(z.string())),
});
export type ClockAnswer = z.infer<typeof clockAnswerSchema>;

/** Claims of `vst-time+jwt`, signed by a key of use `line`. No `exp`: whoever asks cannot go by a clock. */
export const timeClaimsSchema = z.object({
  iss: z.string(),
  iat: z.int(),
  nonce: z.string(),
  /** The mint's clock when it signed, epoch milliseconds. */
  at: z.int().check(z.gte(0)),
});
export type TimeClaims = z.infer<typeof timeClaimsSchema>;

/** One sender's row: what it said itself, and what the mint saw. */
export const edgeRowSchema = z.object({
  location: z.string(),
  /** Tells senders of one location apart without showing an address; two with one name are two rows. */
  sender: z.string(),
  state: z.enum(CLOCK_STATES),
  estimate: z.optional(estimateSchema),
  skewSeconds: z.int(),
  keysSeq: z.optional(z.int()),
  /** When this row first said that `keysSeq`, by the mint's clock: the propagation of a key set. Epoch ms. */
  keysSeqAt: z.optional(z.int()),
  reportedAt: z.int(),
  /** Requests that passed without a place, by event and rule, since the row began. */
  passes: z.optional(z.array(z.object({ event: z.string(), rule: z.int(), count: z.int() }))),
});
export type EdgeRow = z.infer<typeof edgeRowSchema>;

/** `GET {mint}/v1/admin/edges`, admin bearer token. Rows that were silent for ten minutes are gone. */
export const edgesViewSchema = z.object({
  now: z.int(),
  /** The mint's clock less its PostgreSQL's; absent while PostgreSQL has not answered. */
  mint: z.object({ state: z.enum(CLOCK_STATES), estimate: z.optional(estimateSchema) }),
  edges: z.array(edgeRowSchema),
  /** Reports of new senders that found no room, since the start. */
  turnedAway: z.int(),
});
export type EdgesView = z.infer<typeof edgesViewSchema>;

/** Places for people whose entitlement is known beforehand, a batch at a time. All moments are epoch milliseconds. */
import * as z from "zod/mini";
import { HASH_TEXT } from "./hash-text.ts";
import { PREMINT_BATCH_MAX } from "./limits.ts";

/** Chosen by whoever asks, and never used for other people: a batch asked again has the same numbers. */
export const PREMINT_BATCH_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** `PUT {mint}/v1/admin/events/{event}/premints/{batch}`. */
export const premintRequestSchema = z.strictObject({
  /** `hashVisitor` of each visitor's secret, in the order of their numbers: the mint learns no secret. */
  subs: z.array(z.string().check(z.regex(HASH_TEXT))).check(
    z.minLength(1),
    z.maxLength(PREMINT_BATCH_MAX),
    z.refine((subs) => new Set(subs).size === subs.length, "Must not repeat anybody"),
  ),
});
export type PremintRequest = z.infer<typeof premintRequestSchema>;

/** 200. Who asks again may get other texts (a key was changed), never other numbers. */
export const premintAnswerSchema = z.object({
  /** Number of the first of `subs`; the others follow without a gap. */
  first: z.int().check(z.positive()),
  /** As many as `subs`. */
  tickets: z.array(z.string()),
});
export type PremintAnswer = z.infer<typeof premintAnswerSchema>;

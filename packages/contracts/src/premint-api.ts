/** Places for people whose entitlement is known beforehand, a batch at a time. All moments are epoch milliseconds. */
import * as z from "zod/mini";
import { HASH_TEXT } from "./hash-text.ts";
import { PREMINT_BATCH_MAX } from "./limits.ts";

/** Chosen by whoever asks, and never used for other people: a batch asked again has the same numbers. */
export const PREMINT_BATCH_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** `hashVisitor` of each visitor's secret, in the order of their numbers: the mint learns no secret. */
const subsSchema = z.array(z.string().check(z.regex(HASH_TEXT))).check(
  z.minLength(1),
  z.maxLength(PREMINT_BATCH_MAX),
  z.refine((subs) => new Set(subs).size === subs.length, "Must not repeat anybody"),
);

/** `PUT {mint}/v1/admin/events/{event}/premints/{batch}`. */
export const premintRequestSchema = z.strictObject({ subs: subsSchema });
export type PremintRequest = z.infer<typeof premintRequestSchema>;

/** 200. Who asks again may get other texts (a key was changed), never other numbers. */
export const premintAnswerSchema = z.object({
  /** Number of the first of `subs`; the others follow without a gap. */
  first: z.int().check(z.positive()),
  /** As many as `subs`. */
  tickets: z.array(z.string()),
});
export type PremintAnswer = z.infer<typeof premintAnswerSchema>;

/** `POST {mint}/v1/admin/events/{event}/premints/{batch}/admissions`: claims for people of a batch. */
export const premintClaimsRequestSchema = z
  .strictObject({
    /** All of the batch, as it was given. */
    subs: subsSchema,
    /** Who of them claims: indexes into `subs`, from 0. */
    whose: z.array(z.int().check(z.gte(0), z.lt(PREMINT_BATCH_MAX))).check(
      z.minLength(1),
      z.maxLength(PREMINT_BATCH_MAX),
      z.refine((whose) => new Set(whose).size === whose.length, "Must not repeat anybody"),
    ),
    /** As in a claim: whoever asks says that all of them are there. */
    confirmed: z.optional(z.boolean()),
  })
  .check(
    z.refine(({ subs, whose }) => whose.every((index) => index < subs.length), {
      path: ["whose"],
      error: "Must lie within the batch",
    }),
  );
export type PremintClaimsRequest = z.infer<typeof premintClaimsRequestSchema>;

/** 200. What each one's own claim would have been answered; asked again it gives the same admissions (`jti`). */
export const premintClaimsAnswerSchema = z.object({
  /** In the order of `whose`. */
  claims: z.array(
    z.union([
      z.object({ opensAt: z.int(), closesAt: z.int(), admission: z.string() }),
      /** A code of the problem registry: `too-early`, `slot-over`, `held` ... */
      z.object({ refused: z.string() }),
    ]),
  ),
});
export type PremintClaimsAnswer = z.infer<typeof premintClaimsAnswerSchema>;

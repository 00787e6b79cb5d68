/** Bodies of the mint's key administration. */
import * as z from "zod/mini";
import { KEY_REASON_CHARS_MAX } from "./limits.ts";

const reason = z.string().check(
  z.trim(),
  z.minLength(1),
  z.maxLength(KEY_REASON_CHARS_MAX),
  z.refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), "Must be one line of text"),
);

/** What a key signs: `line` tickets and statements, `admission` admissions. */
const use = z.enum(["line", "admission"]);

/**
 * The body of `POST /v1/admin/keys`. With `If-Match`, the ETag of the look, it makes one key at most, however often
 * it is asked.
 */
export const stageKeySchema = z.strictObject({
  use,
  reason: z.optional(reason),
});

/** The body of `POST /v1/admin/keys/{kid}/activate|retire|revoke`. */
export const keyStepSchema = z
  .strictObject({
    /** Also when it is not safe yet: valid tokens are refused, for a while, somewhere. */
    force: z.optional(z.boolean()),
    /** For the audit log; needed with `force`. */
    reason: z.optional(reason),
  })
  .check(
    z.refine(({ force, reason: given }) => force !== true || given !== undefined, {
      path: ["reason"],
      message: "Say why: force needs a reason",
    }),
  );
export type KeyStep = z.infer<typeof keyStepSchema>;

/** Epoch milliseconds, by the mint's clock. */
const moment = z.int().check(z.gte(0));
const seconds = z.int().check(z.gte(0));

/** One key, as an operator is shown it. */
export const keyViewSchema = z.object({
  kid: z.string(),
  use,
  /** Present for a key from before there were two uses: every verifier takes both from it. */
  unrestricted: z.optional(z.literal(true)),
  /** What its signatures and its entry in the key set say. */
  alg: z.enum(["Ed25519", "EdDSA"]),
  state: z.enum(["staged", "signing", "retiring", "retired", "revoked"]),
  /** When it took this state. */
  since: moment,
  /** When it stops verifying; only for a retiring key. */
  until: z.optional(moment),
  createdAt: moment,
  /** What comes next; absent where nothing does but revoking. */
  next: z.optional(
    z.object({
      step: z.enum(["activate", "retire"]),
      safeFrom: moment,
      isSafe: z.boolean(),
      /** When the mint does it by itself, as things are. */
      dueAt: z.optional(moment),
    }),
  ),
});
export type KeyView = z.infer<typeof keyViewSchema>;

const policySchema = z.object({
  jwksCacheSeconds: seconds,
  skewSeconds: seconds,
  propagationSeconds: seconds,
  tokenLifeSecondsMax: seconds,
  stagedSeconds: seconds,
  retiringSeconds: seconds,
  keysMax: seconds,
  signForSeconds: z.nullable(seconds),
});

/** `GET /v1/admin/keys`. Its ETag is `"<seq>"`. */
export const keysViewSchema = z.object({
  /** The mint's clock. */
  serverTime: moment,
  /** Number of the key set. */
  seq: z.int().check(z.gte(0)),
  policies: z.object({ line: policySchema, admission: policySchema }),
  /** Sales that are on and hold the schedule back. */
  frozenBy: z.array(z.string()),
  /** Those of the line, then those of admissions, in the order of their making. */
  keys: z.array(keyViewSchema),
});
export type KeysView = z.infer<typeof keysViewSchema>;

/** The answer to every step. */
export const keyOutcomeSchema = z.object({
  /** False: it was as asked before. */
  changed: z.boolean(),
  seq: z.int().check(z.gte(0)),
  key: keyViewSchema,
});
export type KeyOutcomeView = z.infer<typeof keyOutcomeSchema>;

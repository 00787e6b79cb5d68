/** Bodies of the mint's key administration. */
import * as z from "zod/mini";
import { KEY_REASON_CHARS_MAX } from "./limits.ts";

const reason = z.string().check(
  z.trim(),
  z.minLength(1),
  z.maxLength(KEY_REASON_CHARS_MAX),
  z.refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), "Must be one line of text"),
);

/** The body of `POST /v1/admin/keys`. */
export const stageKeySchema = z.strictObject({
  /** What it will sign: `line` tickets and statements, `admission` admissions. */
  use: z.enum(["line", "admission"]),
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

import * as z from "zod/mini";
import { SLUG_CHARS_MAX } from "./limits.ts";

/** An event's name: lower-case letters, digits and single hyphens, 1 to 64 characters. */
export const slugSchema: z.ZodMiniString = z
  .string()
  .check(
    z.maxLength(SLUG_CHARS_MAX),
    z.regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, "Must be lower-case letters, digits and single hyphens"),
  );

/** True when `value` can name an event. Cheap enough for every request. */
export function isSlug(value: string): boolean {
  return value.length <= SLUG_CHARS_MAX && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(value);
}

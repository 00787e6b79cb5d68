/**
 * An organizer's own looks of the page, as they are set, and as they travel in the manifest. Here is their form; what a logo and
 * a template may hold, and which colours can be read, `packages/looks` says.
 */
import * as z from "zod/mini";
import { LANGUAGES } from "./languages.ts";
import {
  LOGO_ALT_CHARS_MAX,
  LOGO_CHARS_MAX,
  LOOKS_TEXT_CHARS_MAX,
  TEMPLATE_CHARS_MAX,
} from "./limits.ts";
import { isOneLine } from "./one-line.ts";

const words = (charsMax: number) =>
  z.string().check(
    z.minLength(1),
    z.maxLength(charsMax),
    z.refine(
      (text) => isOneLine(text) && text.trim() !== "",
      "Must be one line of text, without characters that control its direction",
    ),
  );

const colour = z
  .string()
  .check(z.regex(/^#[0-9a-f]{6}$/, "Must be a colour like #0b6e4f, in lower case"));

/** What is absent is derived. */
const schemeColours = z.strictObject({
  /** Buttons, the line that fills, the mark beside a notice. */
  accent: z.optional(colour),
  paper: z.optional(colour),
  ink: z.optional(colour),
});

/** Words of the organizer's own, in one language: plain text, each a sentence or two. */
const looksTexts = z.strictObject({
  /** Under the title. */
  under: z.optional(words(LOOKS_TEXT_CHARS_MAX)),
  /** After what the page says itself while somebody waits, when a turn was missed, when all is sold, and at the end. */
  waiting: z.optional(words(LOOKS_TEXT_CHARS_MAX)),
  missed: z.optional(words(LOOKS_TEXT_CHARS_MAX)),
  soldout: z.optional(words(LOOKS_TEXT_CHARS_MAX)),
  ended: z.optional(words(LOOKS_TEXT_CHARS_MAX)),
});

export const looksSchema = z.strictObject({
  /** A data URI of png, webp, jpeg or svg. */
  logo: z.optional(z.string().check(z.maxLength(LOGO_CHARS_MAX))),
  /** What the logo says, for whoever does not see it. With a logo, and only then. */
  logoAlt: z.optional(words(LOGO_ALT_CHARS_MAX)),
  colours: z.optional(
    z.strictObject({ light: z.optional(schemeColours), dark: z.optional(schemeColours) }),
  ),
  /** By language. */
  texts: z.optional(z.partialRecord(z.enum(LANGUAGES), looksTexts)),
  /** HTML around the room, which stands where it says `{{room}}`. */
  template: z.optional(z.string().check(z.maxLength(TEMPLATE_CHARS_MAX))),
});
export type Looks = z.infer<typeof looksSchema>;

/**
 * In the manifest only the kinds of the members are asked for: a location that finds a part not to its liking leaves that part
 * out, and takes the manifest.
 */
const text = z.optional(z.string());
const colours = z.optional(z.object({ accent: text, paper: text, ink: text }));
export const manifestLooksSchema = z.object({
  logo: text,
  logoAlt: text,
  colours: z.optional(z.object({ light: colours, dark: colours })),
  texts: z.optional(
    z.record(
      z.string(),
      z.object({ under: text, waiting: text, missed: text, soldout: text, ended: text }),
    ),
  ),
  template: text,
});
export type ManifestLooks = z.infer<typeof manifestLooksSchema>;

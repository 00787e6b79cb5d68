/** The page's texts in one language: what `texts/<language>.json` holds, and how it is said. */
import type en from "./texts/en.json";

/** Of one text, by the categories of CLDR that its language has. */
export type Plural = { readonly other: string } & {
  readonly [category in Exclude<Intl.LDMLPluralRule, "other">]?: string;
};

/** English as the shape of all: a text, a plural, or a group of texts. */
type Shape<T> = {
  readonly [K in keyof T]: T[K] extends string
    ? string
    : T[K] extends { other: string }
      ? Plural
      : Shape<T[K]>;
};

/** What stands in the page as the server writes it, and never changes. */
export type PageTexts = Shape<(typeof en)["page"]>;

/** What a view is put into, by the server and by the script: the page carries it for its script. */
export type Texts = Shape<Omit<typeof en, "name" | "direction" | "page" | "alerts">>;

/** What the button for alerts says of itself, once pressed: they come with its script. */
export type AlertTexts = Shape<(typeof en)["alerts"]>;

/** `{name}` becomes `values.name`. */
export function say(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

/** Which of our languages a client likes best (RFC 9110 section 12.5.4, by the lookup of RFC 4647 section 3.4). */
import { ACCEPT_LANGUAGE_CHARS_MAX, ACCEPT_PARTS_MAX } from "../limits.ts";
import { type Range, parseRange } from "./accept.ts";

/** A language range: `de-CH`, in lower case, or `*`. */
const RANGE = /^(?:\*|[a-z]{1,8}(?:-[a-z0-9]{1,8})*)$/;
const REGION = /^[a-z]{2,3}(?:-[a-z]{4})?-([a-z]{2}|\d{3})(?:-|$)/;

/** What the languages were called before, or are called one by one (IANA's registry of subtags). */
const OTHER_NAMES: Readonly<Record<string, string>> = { iw: "he", cmn: "zh" };

/** Best first, those refused (`q=0`) at the end; what is no language range is left out. */
export function languageRanges(header: string): readonly Range[] {
  return header
    .slice(0, ACCEPT_LANGUAGE_CHARS_MAX)
    .split(",", ACCEPT_PARTS_MAX)
    .map(parseRange)
    .filter(({ name }) => RANGE.test(name))
    .sort((one, other) => other.q - one.q);
}

/** The language of ours that comes first in `ranges`; `undefined` where they leave it to us. */
export function lookUp(
  ranges: readonly Range[],
  { ours, fallback }: { ours: ReadonlySet<string>; fallback: string },
): string {
  const refused = new Set(ranges.filter(({ q }) => q === 0).map(({ name }) => name));
  for (const { name, q } of ranges) {
    // Ours have no subtags, so that cutting a range from its end comes down to the first.
    const language = name === "*" ? fallback : primary(name);
    if (q > 0 && ours.has(language) && !refused.has(language)) return language;
  }
  return fallback;
}

/**
 * How `language` is written where the client says that it is at home: `de-CH`. Only where that is the same script:
 * figures of one among words of the other would be none. A region of which the runtime knows no way of its own is none: what
 * is kept for each locale is bounded by those that there are, not by what clients make up.
 */
export function localeOf(ranges: readonly Range[], language: string): string {
  for (const { name, q } of ranges) {
    if (q === 0 || primary(name) !== language) continue;
    const region = REGION.exec(name)?.[1];
    if (region === undefined) continue;
    const locale = new Intl.Locale(language, { region });
    return locale.maximize().script === new Intl.Locale(language).maximize().script
      ? new Intl.NumberFormat(locale).resolvedOptions().locale
      : language;
  }
  return language;
}

function primary(range: string): string {
  const [first = ""] = range.split("-", 1);
  return OTHER_NAMES[first] ?? first;
}

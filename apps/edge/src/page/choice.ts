/** Which language a visitor reads the page in: what they chose, else what their browser says, else the event's. */
import { LANGUAGE_DEFAULT } from "@vestibule/contracts/languages";
import { languageCookieName } from "@vestibule/contracts/names";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import { createBoundedMemo } from "../admission/bounded-memo.ts";
import { readCookie } from "../cookies.ts";
import { type Head, headerText } from "../head.ts";
import { ACCEPT_LANGUAGE_CHARS_MAX, CHOICES_CHARS_MAX, CHOICES_MAX } from "../limits.ts";
import { languageRanges, localeOf, lookUp } from "../routing/accept-language.ts";
import type { Visit } from "../visit.ts";
import { LANGUAGE_TAGS, type Language, languageOf } from "./languages.ts";

export interface Choice {
  readonly language: Language;
  /** In which figures and times are written: the language, or its way in the visitor's country. */
  readonly locale: string;
}

/** Browsers of one country and language say the same: each such text is read once. */
const choices = createBoundedMemo<Choice>({
  entriesMax: CHOICES_MAX,
  charsMax: CHOICES_CHARS_MAX,
});

export function chosenLanguage({ head, address }: Visit, event: ManifestEvent): Choice {
  const chosen = chosenBefore(head, address.https);
  const header = (headerText(head, "accept-language") ?? "").slice(0, ACCEPT_LANGUAGE_CHARS_MAX);
  const key = `${chosen ?? ""} ${event.language ?? ""} ${header}`;
  let choice = choices.get(key);
  if (choice === undefined) {
    choice = choose(header, { chosen, own: event.language });
    choices.put(key, choice, key.length);
  }
  return choice;
}

function choose(
  header: string,
  { chosen, own }: { chosen: string | undefined; own: string | undefined },
): Choice {
  const ranges = languageRanges(header);
  const fallback = own !== undefined && LANGUAGE_TAGS.has(own) ? own : LANGUAGE_DEFAULT;
  const tag = chosen ?? lookUp(ranges, { ours: LANGUAGE_TAGS, fallback });
  return { language: languageOf(tag), locale: localeOf(ranges, tag) };
}

function chosenBefore({ cookie }: Head, https: boolean): string | undefined {
  const tag = readCookie(cookie ?? "", languageCookieName({ https }));
  return tag !== undefined && LANGUAGE_TAGS.has(tag) ? tag : undefined;
}

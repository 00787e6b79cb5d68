/** The languages of the page. A location reads the texts of one when it is first asked for them. */
import { type LanguageFile, languageFiles, textNames } from "#page-assets";
import { assert } from "@vestibule/kernel/assert";
import type { PageTexts, Texts } from "./texts.ts";

export interface Language extends Pick<LanguageFile, "name" | "direction"> {
  readonly tag: string;
  readonly page: PageTexts;
  readonly texts: Texts;
  /** `texts` as they stand in the page. */
  readonly bytes: Uint8Array;
  /** The choices of the switch, this language chosen. */
  readonly options: string;
}

const files = new Map(Object.entries(languageFiles));
export const LANGUAGE_TAGS: ReadonlySet<string> = new Set(files.keys());
/** The tag of each by its name in itself, which is what the switch sends: its choices need no values beside what they show. */
export const TAGS_BY_NAME: ReadonlyMap<string, string> = new Map(
  [...files].map(([tag, { name }]) => [name, tag]),
);

const read = new Map<string, Language>();

/** @param tag one of `LANGUAGE_TAGS` */
export function languageOf(tag: string): Language {
  let language = read.get(tag);
  if (language === undefined) {
    const file = files.get(tag);
    assert(file !== undefined, "the language is one of ours");
    read.set(tag, (language = readLanguage(tag, file)));
  }
  return language;
}

function readLanguage(tag: string, { name, direction, page, texts }: LanguageFile): Language {
  return {
    ...{ tag, name, direction },
    page: JSON.parse(page) as PageTexts,
    texts: JSON.parse(texts) as Texts,
    bytes: new TextEncoder().encode(JSON.stringify(renamed(JSON.parse(texts)))),
    options: optionsHtml(tag),
  };
}

function renamed(texts: unknown): unknown {
  if (typeof texts !== "object" || texts === null) return texts;
  const named = Object.entries(texts).map(([name, text]) => [
    Object.hasOwn(textNames, name) ? textNames[name] : name,
    renamed(text),
  ]);
  return Object.fromEntries(named) as unknown;
}

function optionsHtml(chosen: string): string {
  return [...files]
    .map(([tag, { name }]) => `<option lang=${tag}${tag === chosen ? " selected" : ""}>${name}`)
    .join("");
}

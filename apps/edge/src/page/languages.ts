/** The languages of the page. A location reads the texts of one when it is first asked for them. */
import { type LanguageFile, languageFiles } from "#page-assets";
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

export const DEFAULT_LANGUAGE = "en";

const read = new Map<string, Language>();

/** @param tag of a file, else the default is taken */
export function languageOf(tag: string): Language {
  let language = read.get(tag);
  if (language === undefined) {
    const file = languageFiles[tag];
    if (file === undefined) return languageOf(DEFAULT_LANGUAGE);
    read.set(tag, (language = readLanguage(tag, file)));
  }
  return language;
}

function readLanguage(tag: string, { name, direction, page, texts }: LanguageFile): Language {
  return {
    ...{ tag, name, direction },
    page: JSON.parse(page) as PageTexts,
    texts: JSON.parse(texts) as Texts,
    bytes: new TextEncoder().encode(texts),
    options: optionsHtml(tag),
  };
}

function optionsHtml(chosen: string): string {
  return Object.entries(languageFiles)
    .map(([tag, { name, direction }]) => {
      const dir = direction === "rtl" ? " dir=rtl" : "";
      return `<option value=${tag} lang=${tag}${dir}${tag === chosen ? " selected" : ""}>${name}`;
    })
    .join("");
}

/** Which language a visitor reads the page in. */
import type { ManifestEvent } from "@vestibule/contracts/statements";
import type { Visit } from "../visit.ts";
import { type Language, languageOf, DEFAULT_LANGUAGE } from "./languages.ts";

export interface Choice {
  readonly language: Language;
  readonly locale: string;
}

export function chosenLanguage(_visit: Visit, _event: ManifestEvent): Choice {
  return { language: languageOf(DEFAULT_LANGUAGE), locale: DEFAULT_LANGUAGE };
}

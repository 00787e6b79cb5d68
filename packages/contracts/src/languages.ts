/** The languages of the holding page (BCP 47): each has a file in `apps/edge/src/page/texts`. */
export const LANGUAGES = [
  "ar",
  "de",
  "en",
  "es",
  "fr",
  "he",
  "hi",
  "it",
  "ja",
  "ko",
  "nl",
  "pl",
  "pt",
  "ru",
  "tr",
  "uk",
  "zh",
] as const;

/** Of a visitor of whom nothing is known, where the event has none of its own. */
export const LANGUAGE_DEFAULT = "en";

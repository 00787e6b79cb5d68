/** Built by `build/page-assets.ts` into `dist/`; `#page-assets` in package.json points there. */

/** The page's script, bundled and minified; cannot hold `</script`. */
export declare const script: string;
/** The work that some events ask for before a place: stands before the page's script, in the same element. */
export declare const proveScript: string;
/** The page's style sheet, minified. */
export declare const style: string;
/** For pages with a logo, and with a template; minified. */
export declare const logoStyle: string;
export declare const templateStyle: string;
/** The button for alerts: the same in the other pages, which have room for it. */
export declare const offerScript: string;
/** What a content policy calls them, the script with what stands before it: `'sha256-…'`. */
export declare const scriptSource: string;
export declare const styleSource: string;
/** Of the script of an event that asks for work. */
export declare const proveSource: string;
/** What is fetched when a fan asks for alerts, with its texts in all languages; and its name in a policy. */
export declare const alertsScript: string;
export declare const alertsSource: string;

/** Names within `Texts`, and what the page's script calls them. */
export declare const textNames: Readonly<Record<string, string>>;

/** One language, of `texts/<language>.json`. */
export interface LanguageFile {
  /** In itself: `Deutsch`. */
  readonly name: string;
  readonly direction: "ltr" | "rtl";
  /** `PageTexts` as JSON. */
  readonly page: string;
  /** `Texts` as JSON; cannot hold `<`. */
  readonly texts: string;
}
/** By their tags (BCP 47): those of the files' names. */
export declare const languageFiles: Readonly<Record<string, LanguageFile>>;

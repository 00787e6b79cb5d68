/** Built by `build/page-assets.ts` into `dist/`; `#page-assets` in package.json points there. */

/** The page's script, bundled and minified; cannot hold `</script`. */
export declare const script: string;
/** The page's style sheet, minified. */
export declare const style: string;

/** For vitest: the page is built before a test imports the edge. */
export { buildPageAssets as setup } from "./page-assets.ts";

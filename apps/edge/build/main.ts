import { buildPageAssets } from "./page-assets.ts";

await buildPageAssets();

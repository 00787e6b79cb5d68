import { brotliCompressSync, constants, gzipSync } from "node:zlib";

import { LANGUAGES } from "@vestibule/contracts/languages";

import { startEdge } from "../edge-candidate.ts";
import { HOST, PAGE_PATH } from "../edge-world.ts";
import { ask } from "../http.ts";
import type { Bench, Measured, Row } from "../row.ts";

const LIMIT_BYTES = 14_336;
/** What CDNs use for answers that they compress as they go. */
const GZIP_LEVEL = 6;
const BROTLI_QUALITY = 4;
/** Anything that would make a browser fetch more. */
const MORE =
  /<(?:script|img|iframe|source|embed|object)\b[^>]*\s(?:src|data|srcset)\s*=\s*(?!["']?data:)|<link\b[^>]*\shref\s*=\s*(?!["']?data:)|@import|url\(\s*["']?(?!data:|#)/i;

export const pageBytes: Row = {
  name: "page-bytes",
  what: "the holding page, everything in it, gzip as a CDN does it",
  floor: `${LIMIT_BYTES.toLocaleString("en")} bytes; the ratio is floor ÷ candidate`,
  unit: "bytes",
  atLeast: 1,
  timeoutMs: 60_000,
  measure,
};

async function measure(bench: Bench): Promise<Measured> {
  const { edge } = await startEdge(bench);
  let largest = { language: "", raw: 0, gzip: 0, brotli: 0 };
  for (const language of LANGUAGES) {
    const page = await ask(edge.port, {
      path: PAGE_PATH,
      headers: { host: HOST, accept: "text/html", "accept-language": language },
    });
    const isPage =
      page.status === 200 && String(page.headers["content-type"]).startsWith("text/html");
    if (!isPage) throw new Error(`no holding page: ${page.status} ${page.body.slice(0, 200)}`);
    const more = MORE.exec(page.body)?.[0];
    if (more !== undefined) throw new Error(`the page is not all of it: ${more}`);
    const bytes = Buffer.from(page.body);
    const gzip = gzipSync(bytes, { level: GZIP_LEVEL }).length;
    const brotli = brotliCompressSync(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
    }).length;
    if (gzip > largest.gzip) largest = { language, raw: bytes.length, gzip, brotli };
  }
  const { language, raw, gzip, brotli } = largest;
  return {
    candidate: gzip,
    floor: LIMIT_BYTES,
    // "Under", so that a page of exactly the limit misses.
    ratio: gzip === LIMIT_BYTES ? 0.99999 : LIMIT_BYTES / gzip,
    notes: [
      `largest in \`${language}\`, of ${LANGUAGES.length} languages asked for: ${raw} bytes, gzip -${GZIP_LEVEL} ${gzip}, brotli -q ${BROTLI_QUALITY} ${brotli}`,
    ],
  };
}

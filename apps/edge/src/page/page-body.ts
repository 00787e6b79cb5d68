/** The holding page as bytes: its style sheet, its texts and its script, most of it, are the same in all and encoded once. */
import { offerScript, proveScript, script, style } from "#page-assets";
import type { PageBytes } from "./page-memo.ts";

const encoder = new TextEncoder();
const STYLE = encoder.encode(style);
const SCRIPT = encoder.encode(script);
const PROVE_SCRIPT = encoder.encode(proveScript);
const OFFER_SCRIPT = encoder.encode(offerScript);

/**
 * @param html a page with none of these: its last style element and its last two script elements are empty
 * @param texts of the page's language, as the script reads them; `isProving`: the event asks for work before a place
 */
export function pageBody(
  html: string,
  { texts, isProving }: { texts: Uint8Array; isProving: boolean },
): PageBytes {
  const styleAt = html.lastIndexOf("</style>");
  const scriptAt = html.lastIndexOf("</script>");
  const textsAt = html.lastIndexOf("</script>", scriptAt - 1);
  return joined([
    encoder.encode(html.slice(0, styleAt)),
    STYLE,
    encoder.encode(html.slice(styleAt, textsAt)),
    texts,
    encoder.encode(html.slice(textsAt, scriptAt)),
    isProving ? PROVE_SCRIPT : OFFER_SCRIPT,
    SCRIPT,
    encoder.encode(html.slice(scriptAt)),
  ]);
}

function joined(pieces: readonly Uint8Array[]): PageBytes {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  const body = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    body.set(piece, at);
    at += piece.length;
  }
  return body;
}

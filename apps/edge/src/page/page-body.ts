/** The holding page as bytes: its style sheet and its script, most of it, are the same in all and encoded once. */
import { script, style } from "#page-assets";

const encoder = new TextEncoder();
const STYLE = encoder.encode(style);
const SCRIPT = encoder.encode(script);

/**
 * @param html a page with neither: its first style element is empty but for what is the page's own, which comes first, and its
 *   last script element is empty.
 */
export function pageBody(html: string): Uint8Array<ArrayBuffer> {
  const styleAt = html.indexOf("</style>");
  const scriptAt = html.lastIndexOf("</script>");
  const before = encoder.encode(html.slice(0, styleAt));
  const between = encoder.encode(html.slice(styleAt, scriptAt));
  const after = encoder.encode(html.slice(scriptAt));
  const body = new Uint8Array(
    before.length + STYLE.length + between.length + SCRIPT.length + after.length,
  );
  body.set(before);
  body.set(STYLE, before.length);
  body.set(between, before.length + STYLE.length);
  body.set(SCRIPT, before.length + STYLE.length + between.length);
  body.set(after, body.length - after.length);
  return body;
}

/** The page of one moment, as the edge writes it, without a mint, a sale or a visitor. */
import type { ManifestEvent } from "@vestibule/contracts/statements";
import { languageOf } from "../src/page/languages.ts";
import { lookOf } from "../src/page/look.ts";
import { type Known, pageOf } from "../src/page/page-of.ts";

export interface Moment extends Pick<Known, "now" | "drip" | "standing"> {
  readonly event: ManifestEvent;
  /** A language of the page (BCP 47). */
  readonly tag: string;
}

/** The whole page, style sheet and script in it, as UTF-8; and what of its looks this language has no room for. */
export async function renderPage({
  tag,
  ...moment
}: Moment): Promise<{ readonly page: Uint8Array; readonly leftOut: readonly string[] }> {
  const choice = { language: languageOf(tag), locale: tag };
  const { event } = moment;
  const look = await lookOf(event, choice);
  const { homePath: returnPath } = event;
  const page = pageOf({ ...moment, choice, look, returnPath, unsent: false, zone: () => "UTC" });
  return { page, leftOut: look.leftOut };
}

/** The page of one moment, as the edge writes it, without a mint, a sale or a visitor. */
import type { ManifestEvent } from "@vestibule/contracts/statements";
import { type ViewInput, viewOf } from "@vestibule/client/view";
import { languageOf } from "../src/page/languages.ts";
import { lookOf } from "../src/page/look.ts";
import { pageHtml } from "../src/page/markup.ts";
import { ownWords } from "../src/page/own-texts.ts";
import { pageBody } from "../src/page/page-body.ts";
import { wordsOf } from "../src/page/words.ts";
import { settingsOf } from "../src/page/write-page.ts";
import { formatsOf } from "../src/page/zoned.ts";

export interface Moment extends Omit<ViewInput, "settings"> {
  readonly event: ManifestEvent;
  /** A language of the page (BCP 47). */
  readonly tag: string;
}

/** The whole page, style sheet and script in it, as UTF-8. */
export async function renderPage({ event, tag, drip, ...standing }: Moment): Promise<Uint8Array> {
  const language = languageOf(tag);
  const settings = settingsOf(event);
  const view = viewOf({ ...standing, settings, drip });
  const formats = formatsOf("UTC", { locale: tag, now: standing.now });
  const { under, own } = ownWords(event, tag);
  const html = pageHtml({
    ...{ view, language, look: await lookOf(event), under, returnPath: event.homePath },
    words: wordsOf(view, { texts: language.texts, formats, own }, event.title),
    unsent: false,
    data: { ...standing, settings, title: event.title, locale: tag, own },
  });
  return pageBody(html, language.bytes);
}

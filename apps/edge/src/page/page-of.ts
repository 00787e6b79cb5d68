/** What is known, as the bytes of a page. */
import { type Condition, type PageSettings, viewOf } from "@vestibule/client/view";
import type { DripView, ManifestEvent } from "@vestibule/contracts/statements";
import { asksForWork } from "../friction/asks-for-work.ts";
import type { Choice } from "./choice.ts";
import { type LookParts, pageHtml } from "./markup.ts";
import { ownWords } from "./own-texts.ts";
import { pageBody } from "./page-body.ts";
import type { PageBytes } from "./page-memo.ts";
import type { Standing } from "./standing.ts";
import { wordsOf } from "./words.ts";
import { formatsOf } from "./zoned.ts";

export interface Known {
  readonly event: ManifestEvent;
  readonly now: number;
  readonly drip?: DripView | undefined;
  readonly condition?: Condition | undefined;
  readonly standing: Standing;
  readonly choice: Choice;
  readonly look: LookParts;
  /** The visitor's, of the time zones' names; asked for only where a moment is told. */
  readonly zone: () => string;
  /** Where link and forms lead back to. */
  readonly returnPath: string;
  /** See `PageData`. */
  readonly back?: string | undefined;
  readonly unsent: boolean;
}

export function pageOf(known: Known): PageBytes {
  const { event, now, drip, condition, standing, look, returnPath, back, unsent } = known;
  const { language, locale } = known.choice;
  const settings = settingsOf(event);
  const shut = drip?.state === "soldout" ? true : undefined;
  const view = viewOf({ settings, now, drip, condition, ...standing });
  const formats = formatsOf(view.target === undefined ? "UTC" : known.zone(), { locale, now });
  const { title } = event;
  const { under, own } = ownWords(event, language.tag);
  // Whoever has a place is asked for no work.
  const isProving = asksForWork(event) && standing.number === undefined;
  const proving = isProving ? language.page.proving : undefined;
  const html = pageHtml({
    ...{ view, language, look, under, returnPath, unsent, isProving },
    words: wordsOf(view, { texts: language.texts, formats, own }, title),
    data: { settings, now, condition, ...standing, shut, back, title, locale, own, proving },
  });
  return pageBody(html, { texts: language.bytes, isProving });
}

function settingsOf(event: ManifestEvent): PageSettings {
  return {
    event: event.event,
    lifetimeSeconds: event.lifetimeSeconds,
    claimWindowSeconds: event.claimWindowSeconds,
    endsAt: event.endsAt,
    startsAt: event.startsAt,
    joinableAt: event.joinableAt,
  };
}

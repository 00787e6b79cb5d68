/** What is known, as the bytes of a page. */
import { type Condition, type PageSettings, opensForJoins, viewOf } from "@vestibule/client/view";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import type { KnownDrip } from "@vestibule/feed/mint-feed";
import { dripView } from "../drip-poll.ts";
import { safeReturnPath } from "../routing/return-path.ts";
import type { Visit } from "../visit.ts";
import type { Choice } from "./choice.ts";
import type { Look } from "./look.ts";
import { pageHtml } from "./markup.ts";
import { ownWords } from "./own-texts.ts";
import { pageBody } from "./page-body.ts";
import type { PageBytes } from "./page-memo.ts";
import type { Standing } from "./standing.ts";
import { wordsOf } from "./words.ts";
import { formatsOf, zoneOf } from "./zoned.ts";

export interface Telling {
  readonly event: ManifestEvent;
  readonly drip: KnownDrip | undefined;
  readonly condition: Condition | undefined;
  readonly standing: Standing;
  readonly choice: Choice;
  readonly look: Look;
  /** Where link and forms lead back to; absent: to this very page. */
  readonly returnPath: string | undefined;
  readonly unsent: boolean;
}

export function writePage(visit: Visit, telling: Telling): PageBytes {
  const { now, method } = visit;
  const { event, drip: known, condition, standing, choice, look, unsent } = telling;
  const { language, locale } = choice;
  const settings = settingsOf(event);
  const drip = known === undefined ? undefined : dripView(event.event, known);
  const view = viewOf({ settings, now, drip, condition, ...standing });
  const returnPath = telling.returnPath ?? returnPathOf(visit, event);
  // The answer to a form is not to be asked for again: it lives where its link leads.
  const back = method === "POST" ? returnPath : undefined;
  const formats = formatsOf(view.target === undefined ? "UTC" : zoneOf(visit), { locale, now });
  const { title } = event;
  const { under, own } = ownWords(event, language.tag);
  const html = pageHtml({
    ...{ view, language, look, under, returnPath, unsent },
    words: wordsOf(view, { texts: language.texts, formats, own }, title),
    data: { settings, now, condition, ...standing, back, title, locale, own },
  });
  return pageBody(html, language.bytes);
}

/** Who has no place is told a moment before the line opens only: else the zone, a call into the runtime, is of no use. */
export function strangersZone(visit: Visit, event: ManifestEvent): string {
  return visit.now < opensForJoins(event) ? zoneOf(visit) : "";
}

/** What of the manifest the page knows. */
export function settingsOf(event: ManifestEvent): PageSettings {
  return {
    event: event.event,
    homePath: event.homePath,
    lifetimeSeconds: event.lifetimeSeconds,
    claimWindowSeconds: event.claimWindowSeconds,
    endsAt: event.endsAt,
    startsAt: event.startsAt,
    joinableAt: event.joinableAt,
  };
}

/** This very page, unless its address is an endpoint of ours, a trick, or one that a form was sent to. */
function returnPathOf({ address, method }: Visit, event: ManifestEvent): string {
  if (method === "POST") return event.homePath;
  const { pathname, search, origin } = address;
  return safeReturnPath(pathname + search, origin) ?? event.homePath;
}

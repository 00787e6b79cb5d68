/** Words of the organizer's own, which come after what the page says itself: never instead of it. */
import type { ManifestEvent } from "@vestibule/contracts/statements";

/** By the states of a view in which they are said. */
export interface OwnTexts {
  readonly waiting?: string | undefined;
  readonly missed?: string | undefined;
  readonly soldout?: string | undefined;
  readonly ended?: string | undefined;
}

interface OwnWords {
  /** Under the title; "": nothing. */
  readonly under: string;
  /** Absent: none. */
  readonly own?: OwnTexts;
}

const NONE: OwnWords = { under: "" };

/** To a reader of `language`, and to nobody else: a screen reader speaks the page in one. */
export function ownWords({ looks }: ManifestEvent, language: string): OwnWords {
  const texts = looks?.texts;
  if (texts === undefined || !Object.hasOwn(texts, language)) return NONE;
  const { under = "", ...own } = texts[language] ?? {};
  return Object.keys(own).length > 0 ? { under, own } : { under };
}

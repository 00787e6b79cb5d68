/**
 * When words that a screen reader speaks may change: with the state, and otherwise at most once a minute. What changes more
 * often belongs elsewhere on the page.
 */
import { SPEAK_MS } from "./pace.ts";

export interface Spoken {
  readonly words: string;
  /** What the words are about: other words about the same can wait. */
  readonly about: string;
  /** Since when they are said, milliseconds of any clock. */
  readonly at: number;
}

export function maySay({ words, about, at }: Spoken, last: Spoken): boolean {
  return words !== last.words && (about !== last.about || Math.abs(at - last.at) >= SPEAK_MS);
}

/** What commands that change something have in common. */
import type { KeysView } from "@vestibule/contracts/keys-api";
import { KEY_REASON_CHARS_MAX } from "@vestibule/contracts/limits";
import type { KeyUse } from "@vestibule/keys/public-key";
import { isPublished, ofUse } from "../key-words.ts";

export interface ChangeFlags {
  readonly yes: boolean;
  readonly reason?: string | undefined;
}

export const CHANGE_FLAGS = {
  yes: {
    kind: "boolean",
    brief: "Do it without asking",
    default: false,
    withNegated: false,
  },
  reason: {
    kind: "parsed",
    brief: "Why, for the audit log",
    parse: reasonOf,
    optional: true,
    placeholder: "text",
  },
} as const;

/** As the mint takes it. @throws Error for the library, which says of which option. */
function reasonOf(text: string): string {
  const reason = text.trim();
  if (reason === "") throw new Error("say something");
  if (reason.length > KEY_REASON_CHARS_MAX)
    throw new Error(`at most ${KEY_REASON_CHARS_MAX} characters`);
  if (/\p{Cc}/u.test(reason)) throw new Error("one line of text");
  return reason;
}

/** How many keys of the use are published, and how many may be. One place stays free for an emergency. */
export function placesOf(
  view: KeysView,
  use: KeyUse,
): { readonly taken: number; readonly max: number } {
  return { taken: ofUse(view, use).filter(isPublished).length, max: view.policies[use].keysMax };
}

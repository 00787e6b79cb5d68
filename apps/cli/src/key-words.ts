/** Keys in words: which one is meant, and what a step does to it. */
import type { KeysView, KeyView } from "@vestibule/contracts/keys-api";
import type { KeyUse } from "@vestibule/keys/public-key";
import { CliFailure, EXIT } from "./failure.ts";
import { KID_CHARS_MIN, KID_CHARS_SHOWN } from "./limits.ts";

export function short({ kid }: Pick<KeyView, "kid">): string {
  return kid.slice(0, KID_CHARS_SHOWN);
}

/**
 * The key that `text` begins, or is.
 *
 * @throws CliFailure when there is none, or more than one.
 */
export function findKey({ keys }: KeysView, text: string): KeyView {
  const exact = keys.find(({ kid }) => kid === text);
  if (exact !== undefined) return exact;
  const found = text.length < KID_CHARS_MIN ? [] : keys.filter(({ kid }) => kid.startsWith(text));
  const [one, other] = found;
  if (one !== undefined && other === undefined) return one;
  if (one === undefined) {
    const hint = text.length < KID_CHARS_MIN ? `, and ${KID_CHARS_MIN} characters are needed` : "";
    throw new CliFailure(
      `No key begins with "${text}"${hint}: see vestibule keys list`,
      EXIT.usage,
    );
  }
  const kids = found.map(({ kid }) => kid).join(", ");
  throw new CliFailure(`"${text}" begins more than one key: ${kids}`, EXIT.usage);
}

export function ofUse({ keys }: KeysView, use: KeyUse): readonly KeyView[] {
  return keys.filter((key) => key.use === use);
}

export function signing(view: KeysView, use: KeyUse): KeyView | undefined {
  return ofUse(view, use).find(({ state }) => state === "signing");
}

/** Staged keys, the next to sign first. */
export function staged(view: KeysView, use: KeyUse): readonly KeyView[] {
  return ofUse(view, use)
    .filter(({ state }) => state === "staged")
    .toSorted((one, other) => one.since - other.since || (one.kid < other.kid ? -1 : 1));
}

const PUBLISHED: ReadonlySet<KeyView["state"]> = new Set(["staged", "signing", "retiring"]);

export function isPublished({ state }: KeyView): boolean {
  return PUBLISHED.has(state);
}

export const SIGNS: Readonly<Record<KeyUse, string>> = {
  line: "tickets and statements",
  admission: "admissions",
};

/** What a request shows us, and what of its cookies is the origin's. */
import { COOKIE_CHARS_MAX } from "@vestibule/contracts/limits";
import { assert } from "@vestibule/kernel/assert";
import { withoutOurCookies } from "../cookies.ts";
import type { Head } from "../head.ts";
import { MEMO_CHARS_MAX, MEMO_ENTRIES_MAX } from "../limits.ts";
import { createBoundedMemo } from "./bounded-memo.ts";
import { type Credentials, readCredentials } from "./credentials.ts";

assert(MEMO_CHARS_MAX >= COOKIE_CHARS_MAX, "the memo holds at least one head's cookies");

export interface Scope {
  readonly event: string;
  readonly https: boolean;
}

export interface Shown {
  readonly credentials: Credentials;
  /** The `Cookie` header for the origin; `undefined` when none of it is left. */
  readonly cookieLeft: string | undefined;
}

/**
 * Reads what is shown. The cookies of a fan who was let in are read once: from then on they are known
 * by their exact text. Only what they say is kept, never a verdict.
 */
export interface ShownReader {
  read(head: Head, scope: Scope): Shown;
  /** `shown` was good for an admission. */
  keep(head: Head, scope: Scope, shown: Shown): void;
}

export function createShownReader(
  bounds = { entriesMax: MEMO_ENTRIES_MAX, charsMax: MEMO_CHARS_MAX },
): ShownReader {
  const memo = createBoundedMemo<{ readonly scope: Scope; readonly shown: Shown }>(bounds);

  const known = ({ cookie, ours }: Head, { event, https }: Scope): Shown | undefined => {
    if (cookie === null || ours.length > 0) return undefined;
    const found = memo.get(cookie);
    const fits = found !== undefined && found.scope.event === event && found.scope.https === https;
    return fits ? found.shown : undefined;
  };

  return {
    read: (head, scope) =>
      known(head, scope) ?? {
        credentials: readCredentials(head, scope),
        cookieLeft: cookieLeft(head),
      },
    keep(head, scope, shown) {
      const { cookie } = head;
      if (cookie === null || !shown.credentials.byCookie || known(head, scope) === shown) return;
      memo.put(cookie, { scope, shown }, cookie.length);
    },
  };
}

/** The `Cookie` header without ours. */
export function cookieLeft({ cookie }: Head): string | undefined {
  return cookie === null ? undefined : withoutOurCookies(cookie);
}

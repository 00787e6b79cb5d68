/** Which service shows this token? Verified with public keys alone and, the second time, without a signature check. */
import type { MintFeed } from "@vestibule/feed/mint-feed";
import type { EpochMs } from "@vestibule/kernel/units";
import { refuseByTime } from "@vestibule/token/claims";
import { type ServiceToken, verifyService } from "@vestibule/token/verify-service";
import { SERVICE_MEMO_CHARS_MAX, SERVICE_MEMO_ENTRIES_MAX } from "../limits.ts";
import { createBoundedMemo } from "./bounded-memo.ts";
import { isInForce } from "./token-memo.ts";

export interface Services {
  /** The service's name; `undefined` for whatever is no good token of this event, by this clock. */
  nameOf(
    token: string,
    event: string,
    now: EpochMs,
  ): string | undefined | Promise<string | undefined>;
}

export function createServices(
  feed: MintFeed,
  { issuer, skewSeconds }: { issuer: string; skewSeconds: number },
): Services {
  const memo = createBoundedMemo<ServiceToken>({
    entriesMax: SERVICE_MEMO_ENTRIES_MAX,
    charsMax: SERVICE_MEMO_CHARS_MAX,
  });
  return {
    nameOf(token, event, now) {
      // What is valid and what is over cannot be told apart: closed, as everywhere (design section 10).
      if (feed.clock.isWrong) return undefined;
      const known = memo.get(token);
      return known === undefined
        ? verify(token, event, now)
        : nameOfKnown(token, { known, event, now });
    },
  };

  async function verify(token: string, event: string, now: EpochMs): Promise<string | undefined> {
    for (let refreshed = false; ; refreshed = true) {
      const keys = feed.keys(now);
      if (keys === undefined) return undefined;
      const read = await verifyService(token, { keys, issuer, event, now, skewSeconds });
      if (read.ok) {
        memo.put(token, read.value, token.length);
        return read.value.name;
      }
      // At most one request per cool-down asks the mint (KR-01).
      const isUnknown = read.refusal.reason === "unknown-key";
      if (!isUnknown || refreshed || !(await feed.newerKeys(now))) return undefined;
    }
  }

  /** What may have changed since the signature was found good. */
  function nameOfKnown(
    token: string,
    { known, event, now }: { known: ServiceToken; event: string; now: EpochMs },
  ): string | undefined {
    const refusal = refuseByTime(known, { now, skewSeconds });
    if (refusal?.reason === "over") memo.delete(token);
    const isGood = refusal === undefined && known.event === event;
    return isGood && isInForce(feed.keys(now), known.kid, now) ? known.name : undefined;
  }
}

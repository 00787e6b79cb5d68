/** What one visitor is told, as the bytes of a page. */
import { type Condition, opensForJoins } from "@vestibule/client/view";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import type { KnownDrip } from "@vestibule/feed/mint-feed";
import { dripView } from "../drip-poll.ts";
import { safeReturnPath } from "../routing/return-path.ts";
import type { Visit } from "../visit.ts";
import type { Choice } from "./choice.ts";
import type { LookParts } from "./markup.ts";
import type { PageBytes } from "./page-memo.ts";
import { pageOf } from "./page-of.ts";
import type { Standing } from "./standing.ts";
import { zoneOf } from "./zoned.ts";

export interface Telling {
  readonly event: ManifestEvent;
  readonly drip: KnownDrip | undefined;
  readonly condition: Condition | undefined;
  readonly standing: Standing;
  readonly choice: Choice;
  readonly look: LookParts;
  /** Where link and forms lead back to; absent: to this very page. */
  readonly returnPath: string | undefined;
  readonly unsent: boolean;
}

export function writePage(visit: Visit, telling: Telling): PageBytes {
  const { now, method } = visit;
  const { event, drip } = telling;
  const returnPath = telling.returnPath ?? returnPathOf(visit, event);
  return pageOf({
    ...telling,
    ...{ now, returnPath },
    drip: drip === undefined ? undefined : dripView(event.event, drip),
    zone: () => zoneOf(visit),
    // The answer to a form is not to be asked for again: it lives where its link leads.
    back: method === "POST" ? returnPath : undefined,
  });
}

/** Who has no place is told a moment before the line opens only: else the zone, a call into the runtime, is of no use. */
export function strangersZone(visit: Visit, event: ManifestEvent): string {
  return visit.now < opensForJoins(event) ? zoneOf(visit) : "";
}

/** This very page, unless its address is an endpoint of ours, a trick, or one that a form was sent to. */
function returnPathOf({ address, method }: Visit, event: ManifestEvent): string {
  if (method === "POST") return event.homePath;
  const { pathname, search, origin } = address;
  return safeReturnPath(pathname + search, origin) ?? event.homePath;
}

import type { ManifestClaims, ManifestEvent } from "@vestibule/contracts/statements";

/**
 * A manifest is signed anew every few seconds, and mostly says the same: an event of which it does keeps its identity, so
 * that what was worked out for it stays good.
 */
export function withSameEvents(
  next: ManifestClaims,
  known: ManifestClaims | undefined,
): ManifestClaims {
  const before = new Map(known?.events.map((event) => [event.event, event]));
  const events = next.events.map((event) => {
    const same = before.get(event.event);
    return same !== undefined && textOf(same) === textOf(event) ? same : event;
  });
  return { ...next, events };
}

/** Of one that stays, written once. */
const texts = new WeakMap<ManifestEvent, string>();

/** In the order in which a mint writes its members: another order counts as another event, which costs work and no more. */
function textOf(event: ManifestEvent): string {
  let text = texts.get(event);
  if (text === undefined) texts.set(event, (text = JSON.stringify(event)));
  return text;
}

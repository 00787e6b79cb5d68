/** What an organizer does to one event in a word, as the mint does it. */
import type { Hold } from "@vestibule/contracts/event-settings";
import type { ProblemCode } from "@vestibule/contracts/problems";

export interface Deeds {
  version: number;
  readonly endsAt: number;
  endedAt?: number;
  hold?: { readonly since: number; readonly scope: string; readonly reason: string } | undefined;
}

/** @returns why it is refused, in which case nothing changes. */
export function deedOf(
  deed: string,
  body: unknown,
): (event: Deeds, now: number) => ProblemCode | undefined {
  return (event, now) => {
    const isEnded = now >= Math.min(event.endsAt, event.endedAt ?? Infinity);
    if (deed === "hold") {
      if (isEnded) return "event-ended";
      const held = event.hold ?? { since: now, scope: "entries", reason: "" };
      const { scope = held.scope, reason = held.reason } = body as Hold;
      event.hold = { since: held.since, scope, reason };
    } else if (deed === "resume") {
      const { hold } = event;
      if (hold === undefined || now < (Math.floor(hold.since / 1000) + 1) * 1000) return "conflict";
      event.hold = undefined;
    } else if (deed === "end") {
      event.endedAt ??= now;
    } else return "not-found";
    event.version += 1;
    return undefined;
  };
}

export function heldView({ hold, ...event }: Deeds): object {
  if (hold === undefined) return event;
  const { since, scope, reason } = hold;
  return { ...event, heldSince: since, heldScope: scope, heldReason: reason };
}

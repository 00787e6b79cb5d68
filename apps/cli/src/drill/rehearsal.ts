/**
 * The event that drills are held with. It is a rehearsal: over between drills, so that nobody can join it, and opened
 * again by moving its end. Its host is no host that a request can have, so that no location routes anything to it.
 */
import {
  CLOSE_DEADLINE_MS,
  DRILL_EVENT_SLACK_SECONDS,
  DRILL_EVENTS_TRIED_MAX,
  DRILL_HORIZON_SECONDS,
  DRILL_LIFETIME_SECONDS,
  DRILL_RATE_PER_MINUTE,
} from "../limits.ts";
import { CliFailure } from "../failure.ts";
import { type EventView, RefusedError } from "../mint-api.ts";
import type { Session } from "../session.ts";

const NAME = "vestibule-drill";
/** RFC 6761: `invalid` never resolves; and there is no port 65536, so that no `Host` header names it either. */
const HOST = "vestibule-drill.invalid:65536";
const PATH = "/vestibule-drill";
/** How soon it is over after a drill: an end must be ahead. */
const CLOSE_IN_MS = 3_000;
const CLOSE_TRIES_MAX = 2;

export type FoundRehearsal =
  | { readonly kind: "there"; readonly view: EventView }
  | { readonly kind: "to-make"; readonly name: string };

/** One that is there, also when it is over; else the name of the one to make. */
export async function findRehearsal({ api }: Session): Promise<FoundRehearsal> {
  for (let number = 1; number <= DRILL_EVENTS_TRIED_MAX; number += 1) {
    const name = number === 1 ? NAME : `${NAME}-${number}`;
    const view = await api.event(name);
    if (view === undefined) return { kind: "to-make", name };
    const isOurs = view.rehearsal === true && view.hosts.every((host) => host === HOST);
    // Whatever else has this name is a real line. What an organizer has ended is over for good.
    if (isOurs && view.endedAt === undefined) return { kind: "there", view };
  }
  throw new CliFailure(`Every event from ${NAME} on is a real one, or was ended for good.`);
}

export function rehearsalName(found: FoundRehearsal): string {
  return found.kind === "there" ? found.view.event : found.name;
}

/** Open until `drillEndsAt` and a while longer, whatever becomes of the drill. */
export async function openRehearsal(
  session: Session,
  found: FoundRehearsal,
  drillEndsAt: number,
): Promise<EventView> {
  const endsAt = drillEndsAt + DRILL_EVENT_SLACK_SECONDS * 1_000;
  if (found.kind === "there") {
    return session.api.changeEvent(found.view, { endsAt });
  }
  try {
    return await session.api.createEvent({
      event: found.name,
      title: "A rehearsal: this is no sale",
      rehearsal: true,
      ratePerMinute: DRILL_RATE_PER_MINUTE,
      lifetimeSeconds: DRILL_LIFETIME_SECONDS,
      claimWindowSeconds: DRILL_LIFETIME_SECONDS,
      horizonSeconds: DRILL_HORIZON_SECONDS,
      endsAt,
      hosts: [HOST],
      paths: [PATH],
      homePath: PATH,
    });
  } catch (error) {
    if (error instanceof RefusedError && error.status === 422)
      throw new CliFailure(`${error.message}\nIs the mint of an older release than this command?`);
    throw error;
  }
}

/** Best effort: its end comes by itself, too. */
export async function closeRehearsal({ api, time }: Session, event: string): Promise<boolean> {
  for (let tries = 0; tries < CLOSE_TRIES_MAX; tries += 1) {
    try {
      const view = await api.event(event, CLOSE_DEADLINE_MS);
      if (view === undefined) return true;
      await api.changeEvent(view, { endsAt: time.now() + CLOSE_IN_MS }, CLOSE_DEADLINE_MS);
      return true;
    } catch {
      // Changed in between, or away for a moment.
    }
  }
  return false;
}

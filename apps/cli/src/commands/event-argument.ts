import { isSlug } from "@vestibule/contracts/slug";
import type { CliContext } from "../context.ts";
import { COMPLETION_DEADLINE_MS } from "../limits.ts";
import { Session } from "../session.ts";

/** An event's name as an argument, proposed from the mint's list. */
export const EVENT = {
  brief: "The event",
  placeholder: "event",
  parse: eventOf,
  proposeCompletions,
} as const;

/** @throws Error for the library, which says of which argument. */
export function eventOf(text: string): string {
  if (isSlug(text)) return text;
  throw new Error("the name of an event: small letters, digits and -");
}

/** Never an error. */
async function proposeCompletions(this: CliContext, partial: string): Promise<readonly string[]> {
  try {
    const session = new Session(this.platform, { json: false, insecureHttp: false });
    const events = await session.api.events(COMPLETION_DEADLINE_MS);
    return events.map(({ event }) => event).filter((event) => event.startsWith(partial));
  } catch {
    return [];
  }
}

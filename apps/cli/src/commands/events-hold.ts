import { buildCommand, type Command } from "@stricli/core";
import { type Hold, holdSchema } from "@vestibule/contracts/event-settings";
import { NOTICE_CHARS_MAX } from "@vestibule/contracts/limits";
import { parse } from "@vestibule/contracts/parse";
import { action, COMMON_FLAGS } from "../action.ts";
import type { CliContext } from "../context.ts";
import { CliFailure } from "../failure.ts";
import { RESUME_RETRY_MS, RESUME_TRIES_MAX } from "../limits.ts";
import { type EventView, RefusedError } from "../mint-api.ts";
import { type CommonFlags, Session } from "../session.ts";
import { wrap } from "../terminal/style.ts";
import { oneLine } from "../terminal/words.ts";
import { EVENT } from "./event-argument.ts";
import { noEvent, told } from "./told.ts";

interface Flags extends CommonFlags {
  readonly all: boolean;
  readonly reason?: string | undefined;
}

export const eventsHold: Command<CliContext> = buildCommand<Flags, [string], CliContext>({
  docs: {
    brief: "Stop a sale at once: nobody new enters until events resume",
    fullDescription: [
      "Does not ask, so that it is done at once. Whoever is in goes on; with --all nothing is bought either. Turns ahead are",
      "cut, and given anew, first in line, by events resume: everybody keeps their place.",
      "",
      "It may be run again: a second time it only adds what is given, and loosens nothing.",
      "",
      "EXAMPLES",
      "  vestibule events hold spring",
      '  vestibule events hold spring --all --reason "Back in ten minutes"',
    ].join("\n"),
  },
  parameters: {
    flags: {
      ...COMMON_FLAGS,
      all: { kind: "boolean", brief: "Purchases too", default: false, withNegated: false },
      reason: {
        kind: "parsed",
        parse: reasonOf,
        brief: "A line of text for everybody who waits",
        placeholder: "text",
        optional: true,
      },
    },
    positional: { kind: "tuple", parameters: [EVENT] },
  },
  func: action(async ({ platform }, flags: Flags, event: string) => {
    const session = new Session(platform, flags);
    const { all, reason } = flags;
    const wanted: Hold = {
      ...(all ? { scope: "all" } : {}),
      ...(reason === undefined ? {} : { reason }),
    };
    const held = await told(event, session.api.hold(event, wanted));
    session.say(...wrap(heldWords(held), session.human.columns));
    session.print({ changed: true, ...factsOf(held) });
  }),
});

export const eventsResume: Command<CliContext> = buildCommand<CommonFlags, [string], CliContext>({
  docs: {
    brief: "Let a sale go on that is held: those whose turn was cut come first",
    fullDescription: [
      "Does not ask. Turns that the hold cut are given anew from now on, within the rate. It may be run again.",
      "",
      "EXAMPLES",
      "  vestibule events resume spring",
    ].join("\n"),
  },
  parameters: { flags: COMMON_FLAGS, positional: { kind: "tuple", parameters: [EVENT] } },
  func: action(async ({ platform }, flags: CommonFlags, event: string) => {
    const session = new Session(platform, flags);
    const { changed, view } = await resume(session, event);
    session.say(
      changed
        ? `${event} goes on: ${view.state}. Those whose turn was cut come first.`
        : `${event} is not held: nothing to do.`,
    );
    session.print({ changed, ...factsOf(view) });
  }),
});

/** A hold lasts until the next full second: whoever comes before that tries again. */
async function resume(
  session: Session,
  event: string,
): Promise<{ readonly changed: boolean; readonly view: EventView }> {
  for (let tries = 1; ; tries += 1) {
    const view = await session.api.event(event);
    if (view === undefined) throw new CliFailure(noEvent(event));
    if (view.heldSince === undefined) return { changed: false, view };
    try {
      return { changed: true, view: await told(event, session.api.resume(event)) };
    } catch (error) {
      const isConflict = error instanceof RefusedError && error.code === "conflict";
      if (!isConflict || tries === RESUME_TRIES_MAX) throw error;
    }
    await session.sleep(RESUME_RETRY_MS);
  }
}

function heldWords({ event, heldScope, heldReason }: EventView): string {
  const scope =
    heldScope === "all"
      ? "nobody new enters, and nothing is bought"
      : "nobody new enters; whoever is in goes on";
  const reason =
    heldReason === undefined || heldReason === ""
      ? "."
      : `, and reads: ${oneLine(heldReason, NOTICE_CHARS_MAX)}`;
  return `${event} is held: ${scope}. vestibule events resume ${event} lets it go on. Everybody keeps their place${reason}`;
}

function factsOf({ event, version, state, heldSince, heldScope, heldReason }: EventView): object {
  return { event, version, state, heldSince, heldScope, heldReason };
}

/** As the mint takes it; empty takes the words away. @throws Error for the library, which says of which option. */
function reasonOf(text: string): string {
  const read = parse(holdSchema, { reason: text });
  if (read.ok) return text;
  throw new Error(read.refusal.map(({ message }) => message).join(". "));
}

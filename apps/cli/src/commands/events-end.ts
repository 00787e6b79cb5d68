import { buildCommand, type Command } from "@stricli/core";
import { action, COMMON_FLAGS } from "../action.ts";
import { confirm } from "../confirm.ts";
import type { CliContext } from "../context.ts";
import { CliFailure } from "../failure.ts";
import type { EventFigures } from "../mint-api.ts";
import { type CommonFlags, Session } from "../session.ts";
import { factLines } from "../terminal/style.ts";
import { figure } from "../terminal/words.ts";
import { CHANGE_FLAGS } from "./change.ts";
import { EVENT } from "./event-argument.ts";
import { noEvent, told } from "./told.ts";

interface Flags extends CommonFlags {
  readonly yes: boolean;
}

export const eventsEnd: Command<CliContext> = buildCommand<Flags, [string], CliContext>({
  docs: {
    brief: "End a sale for good: nobody joins, claims or is let in any more",
    fullDescription: [
      "Says who still waits, then asks. For good: a sale that goes on is a new event. To stop one for a while: events hold.",
      "It ends what it has shown, unless somebody else has changed the event meanwhile.",
      "",
      "EXAMPLES",
      "  vestibule events end spring",
      "  vestibule events end spring --yes",
    ].join("\n"),
  },
  parameters: {
    flags: { ...COMMON_FLAGS, yes: CHANGE_FLAGS.yes },
    positional: { kind: "tuple", parameters: [EVENT] },
  },
  func: action(async ({ platform }, flags: Flags, name: string) => {
    const session = new Session(platform, flags);
    const event = await session.api.figures(name);
    if (event === undefined) throw new CliFailure(noEvent(name));
    if (event.state === "ended") {
      session.say(`${name} is over already: nothing to do.`);
      session.print({ changed: false, event: name, version: event.version, state: event.state });
      return;
    }
    session.say(...description(session, event));
    await confirm(session, flags);
    const { version, state } = await told(name, session.api.endEvent(event));
    session.say(`${name} is over.`);
    session.print({ changed: true, event: name, version, state });
  }),
});

function description(session: Session, event: EventFigures): readonly string[] {
  const { waiting, upcoming, claimed } = event;
  const facts: [string, string][] = [
    ["for good", "nobody joins, claims or is let in any more"],
    [
      "waiting",
      `${figure(waiting)} without a slot, ${figure(upcoming)} with one ahead: all go home`,
    ],
    ["turns", `${figure(claimed)} taken up so far`],
  ];
  return [
    `${session.paint("bold", `End ${event.event}`)}  ${event.state}`,
    ...factLines(facts, session.human.columns),
  ];
}

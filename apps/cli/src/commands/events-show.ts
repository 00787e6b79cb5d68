import { buildCommand, type Command } from "@stricli/core";
import { action, COMMON_FLAGS } from "../action.ts";
import type { CliContext } from "../context.ts";
import { CliFailure } from "../failure.ts";
import type { EventFigures } from "../mint-api.ts";
import { bypassWords } from "../sale/bypass-words.ts";
import { planWords } from "../sale/preview-lines.ts";
import { type CommonFlags, Session } from "../session.ts";
import { columns, factLines } from "../terminal/style.ts";
import { figure, oneLine, span } from "../terminal/words.ts";
import { EVENT } from "./event-argument.ts";
import { noEvent } from "./told.ts";

export const eventsList = buildCommand({
  docs: {
    brief: "Show every sale: its state, its rate, and who waits",
    fullDescription: [
      "Changes nothing. With --json it prints {events}, each as the mint says it.",
      "",
      "EXAMPLES",
      "  vestibule events list",
      "  vestibule events list --json | jq '.events[] | select(.state == \"open\")'",
    ].join("\n"),
  },
  parameters: { flags: COMMON_FLAGS },
  func: action(async ({ platform }, flags: CommonFlags) => {
    const session = new Session(platform, flags);
    const events = await session.api.events();
    session.print({ events });
    if (!flags.json) session.say(...listing(session, events));
  }),
});

export const eventsShow: Command<CliContext> = buildCommand<CommonFlags, [string], CliContext>({
  docs: {
    brief: "Show one sale: what is set, and how it goes",
    fullDescription: [
      "Changes nothing. With --json it prints the event as the mint says it.",
      "",
      "EXAMPLES",
      "  vestibule events show spring",
    ].join("\n"),
  },
  parameters: { flags: COMMON_FLAGS, positional: { kind: "tuple", parameters: [EVENT] } },
  func: action(async ({ platform }, flags: CommonFlags, name: string) => {
    const session = new Session(platform, flags);
    const event = await session.api.figures(name);
    if (event === undefined) throw new CliFailure(noEvent(name));
    await session.look();
    session.print(event);
    if (!flags.json) session.say(...description(session, event));
  }),
});

function listing(session: Session, events: readonly EventFigures[]): readonly string[] {
  if (events.length === 0) return ["This mint has no events."];
  const rows = events.map(({ event, state, rate, waiting, serving }) => [
    event,
    state,
    figure(rate),
    figure(waiting),
    figure(serving),
  ]);
  return [
    session.paint("bold", `Events of ${session.api.url}`),
    ...columns([["EVENT", "STATE", "A MINUTE", "WAITING", "SERVING"], ...rows]),
  ];
}

function description(session: Session, event: EventFigures): readonly string[] {
  const { startsAt, maxAdmissions, waiting, upcoming, claimed, lapsed, bypass = [] } = event;
  const facts: [string, string][] = [
    ["rate", `${figure(event.rate)} a minute now`],
    ["plan", planWords(session, event.ratePlan)],
    ["budget", figure(event.approximationBudget)],
    ["overdrive", `${event.overdrivePercent} %`],
    ["horizon", span(event.horizonSeconds * 1_000)],
    ["a slot lasts", span(event.lifetimeSeconds * 1_000)],
    ["claim within", span(event.claimWindowSeconds * 1_000)],
    ["presence", oneLine(event.presence ?? "auto", 20)],
    ["max admissions", maxAdmissions === null ? "none" : figure(maxAdmissions)],
    ...(startsAt === undefined
      ? []
      : ([["starts", session.moment(startsAt)]] as [string, string][])),
    ["ends", session.moment(event.endsAt)],
    ["waiting", `${figure(waiting)} without a slot, ${figure(upcoming)} with one ahead`],
    ["serving", `${figure(event.serving)} of ${figure(event.highestNumber)}`],
    ["turns", `${figure(claimed)} taken up, ${figure(lapsed)} not`],
    ...(bypass.length === 0 ? ([["no place needed", "nowhere"]] as [string, string][]) : []),
    ...bypassWords(bypass).map((words, rule): [string, string] => [
      rule === 0 ? "no place needed" : "",
      `${rule}  ${words}`,
    ]),
  ];
  return [
    `${session.paint("bold", event.event)}  ${event.state}  ${oneLine(event.title, 60)}`,
    ...factLines(facts, session.human.columns),
  ];
}

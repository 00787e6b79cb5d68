import { buildCommand } from "@stricli/core";
import type { ClockEstimate, ClockState, EdgeRow, EdgesView } from "@vestibule/contracts/edges-api";
import { action, COMMON_FLAGS } from "../action.ts";
import { CliFailure, EXIT } from "../failure.ts";
import { type CommonFlags, Session } from "../session.ts";
import { columns, type Style, wrap } from "../terminal/style.ts";
import { figure, oneLine, plural, span } from "../terminal/words.ts";

const COLOURS: Readonly<Record<ClockState, Style>> = {
  good: "green",
  warn: "yellow",
  wrong: "red",
  unknown: "dim",
};

export const edges = buildCommand({
  docs: {
    brief:
      "Show the locations: their clocks, which key set they have, and what passed them without a place",
    fullDescription: [
      "Each location measures how far its clock is from the mint's, and reports it about twice a minute. A",
      "location whose clock is wrong admits nobody until it is right again. Exit code 1 when a clock is wrong,",
      "also the mint's own against its PostgreSQL's. See docs/runbooks. What bypass rules let through is counted by rule,",
      "as vestibule events show numbers them, since the mint first heard of the location.",
      "",
      "EXAMPLES",
      "  vestibule edges",
      "  vestibule edges --json | jq '.edges[] | select(.state != \"good\")'",
    ].join("\n"),
  },
  parameters: { flags: COMMON_FLAGS },
  func: action(async ({ platform }, flags: CommonFlags) => {
    const session = new Session(platform, flags);
    const view = await session.api.edges();
    if (view === undefined)
      throw new CliFailure("This mint keeps no reports of locations: it is of an older release.");
    const { seq } = await session.look();
    if (flags.json) session.print(view);
    else session.say(...edgesListing(session, view, seq));
    const isWrong = [view.mint, ...view.edges].some(({ state }) => state === "wrong");
    return isWrong ? EXIT.failed : EXIT.done;
  }),
});

export function edgesListing(session: Session, view: EdgesView, seq: number): readonly string[] {
  const { paint, human } = session;
  const mine = view.mint.estimate === undefined ? "" : `, ${offset(view.mint.estimate)}`;
  const head = [
    paint("bold", `Locations of ${session.api.url}`),
    `the mint's clock against its PostgreSQL's: ${paint(COLOURS[view.mint.state], view.mint.state)}${mine}`,
    "",
  ];
  const away =
    view.turnedAway === 0
      ? []
      : ["", `${plural(view.turnedAway, "report")} of new senders found no room.`];
  if (view.edges.length === 0)
    return [
      ...head,
      ...wrap("No location has reported within ten minutes.", human.columns),
      ...away,
    ];
  const rows = view.edges.map((row) => [
    oneLine(row.location, 20),
    paint(COLOURS[row.state], row.state),
    row.estimate === undefined ? "not known" : offset(row.estimate),
    `± ${row.skewSeconds} s`,
    keySet(row, seq),
    `${span(view.now - row.reportedAt)} ago`,
  ]);
  const titles = ["LOCATION", "CLOCK", "OFF BY", "MAY BE", "KEY SET", "REPORTED"];
  const table = columns([titles, ...rows]).map((line) =>
    human.unicode ? line : line.replaceAll("±", "+-"),
  );
  return [...head, ...table, ...away, ...passesListing(view)];
}

function passesListing({ edges }: EdgesView): readonly string[] {
  const rows = edges.flatMap(({ location, passes = [] }) =>
    passes.map(({ event, rule, count }) => [
      oneLine(location, 20),
      oneLine(event, 30),
      String(rule),
      figure(count),
    ]),
  );
  if (rows.length === 0) return [];
  return ["", ...columns([["LOCATION", "EVENT", "RULE", "PASSED WITHOUT A PLACE"], ...rows])];
}

function offset({ offsetMs, uncertaintyMs }: ClockEstimate): string {
  return `${signed(offsetMs)} ± ${plain(uncertaintyMs)}`;
}

function signed(ms: number): string {
  return `${ms < 0 ? "-" : "+"}${plain(Math.abs(ms))}`;
}

function plain(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : ms < 120_000 ? `${(ms / 1_000).toFixed(1)} s` : span(ms);
}

function keySet({ keysSeq }: EdgeRow, seq: number): string {
  if (keysSeq === undefined) return "not known";
  return keysSeq >= seq ? "current" : "behind";
}

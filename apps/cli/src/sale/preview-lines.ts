/** A preview, for people: what changes, when, and what comes of it. */
import type { OutlookView, PreviewView } from "@vestibule/contracts/preview-api";
import type { Session } from "../session.ts";
import { bypassSummary } from "./bypass-words.ts";
import { columns, factLines, wrap } from "../terminal/style.ts";
import { figure, oneLine, plural, span } from "../terminal/words.ts";

/** Minutes that are shown of the thirty. */
const SHOWN_MINUTES = [1, 2, 5, 10, 20, 30];

/** Settings that move nobody's turn. */
const BESIDE_THE_DRIP: ReadonlySet<string> = new Set([
  ...["title", "notice", "priceRange", "tellLeft", "presence", "bypass"],
  ...["friction", "looks", "language"],
]);

/** @returns lines; only a table is not wrapped. */
export function previewLines(session: Session, preview: PreviewView): readonly string[] {
  const { paint, human } = session;
  const width = human.columns;
  const { event, state, changes, takesHoldAt, at } = preview;
  const isDrip = changes.some(({ field }) => !BESIDE_THE_DRIP.has(field));
  const facts: [string, string][] = [
    ...changes.map(({ field, before, after }): [string, string] => [
      wordsOf(field),
      `${shown(session, field, before)} -> ${shown(session, field, after)}`,
    ]),
    ...(isDrip
      ? ([
          [
            "takes hold",
            takesHoldAt <= at
              ? "at once: nothing is committed"
              : `${session.moment(takesHoldAt)}: turns before that stay as they are`,
          ],
        ] as [string, string][])
      : []),
  ];
  return [
    `${paint("bold", `Change ${event}`)}  ${state}`,
    ...factLines(facts, width),
    ...(isDrip ? ["", ...table(session, preview), ...warnings(session, preview)] : []),
  ];
}

function table(session: Session, preview: PreviewView): readonly string[] {
  const { before, after, waiting } = preview;
  const row = (
    label: string,
    read: (outlook: OutlookView) => string,
  ): readonly [string, string, string] => [`  ${label}`, read(before), read(after)];
  return columns([
    ["", "AS IT IS", "WITH IT"],
    ...SHOWN_MINUTES.filter((minute) => minute <= after.perMinute.length).map((minute) =>
      row(`turns in minute ${minute}`, ({ perMinute }) => figure(perMinute[minute - 1] ?? 0)),
    ),
    row(`last of ${figure(waiting)} waiting`, ({ lastTurnAt }) =>
      lastTurnAt === undefined ? "-" : session.moment(lastTurnAt),
    ),
    row("left out", ({ leftOut }) => figure(leftOut)),
    row("can buy at once", ({ shoppersAtOnce }) => `up to ${figure(shoppersAtOnce)}`),
  ]);
}

function warnings(session: Session, preview: PreviewView): readonly string[] {
  const { after, endsAt, state } = preview;
  const lines: string[] = [];
  if (after.leftOut > 0)
    lines.push(
      session.paint(
        "red",
        `${plural(after.leftOut, "person", "people")} would get no turn: the sale ends ${session.moment(endsAt)}, or has turns for no more.`,
      ),
    );
  if (state === "paused" || state === "soldout")
    lines.push(`It is ${state}: this is as if it went on now.`);
  return lines.length === 0
    ? []
    : ["", ...lines.flatMap((line) => wrap(line, session.human.columns))];
}

const WORDS: Readonly<Record<string, string>> = {
  ratePerMinute: "rate",
  ratePlan: "plan",
  approximationBudget: "budget",
  overdrivePercent: "overdrive",
  horizonSeconds: "horizon",
  maxAdmissions: "max admissions",
  endsAt: "ends",
};

function wordsOf(field: string): string {
  return WORDS[field] ?? oneLine(field, 40);
}

function shown(session: Session, field: string, value: unknown): string {
  if (value === undefined || value === null) return "none";
  if (field === "ratePlan" && Array.isArray(value)) return planWords(session, value);
  if (field === "bypass" && Array.isArray(value)) return bypassSummary(value);
  if (field === "endsAt" && typeof value === "number") return session.clockTime(value);
  if (field === "horizonSeconds" && typeof value === "number") return span(value * 1_000);
  if (field === "overdrivePercent" && typeof value === "number") return `${value} %`;
  if (typeof value === "number") return figure(value);
  return typeof value === "string"
    ? `"${oneLine(value, 120)}"`
    : oneLine(JSON.stringify(value), 120);
}

/** @param entries as the mint says them */
export function planWords(session: Session, entries: readonly unknown[]): string {
  if (entries.length === 0) return "none";
  return entries
    .map((entry) => {
      const { at, ratePerMinute, ramp } = entry as Readonly<Record<string, unknown>>;
      return `${session.clockTime(Number(at))} ${figure(Number(ratePerMinute))}${ramp === true ? " and a ramp" : ""}`;
    })
    .join(", ");
}

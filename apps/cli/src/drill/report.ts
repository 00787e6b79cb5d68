/** What a drill has found, for machines and for people. */
import type { EdgeRow } from "@vestibule/contracts/edges-api";
import type { KeyUse } from "@vestibule/keys/public-key";
import type { Session } from "../session.ts";
import { columns, wrap } from "../terminal/style.ts";
import { figure, oneLine, plural, span } from "../terminal/words.ts";
import type { Checker } from "./checker.ts";
import { type Counts, noCounts, type Takeover, type Tally, type Wrong } from "./tally.ts";

export interface Propagation {
  readonly name: string;
  /** A verifier of the drill, a location that it asked, or what a location itself has reported. */
  readonly kind: "verifier" | "location" | "report";
  /** From the takeover until it had the new key set; `null`: not within the drill, or its cache is kept old. */
  readonly seconds: number | null;
  /** From the takeover until it first took a token of the new key; `null`: it took none, or is not asked. */
  readonly newKeySeconds: number | null;
}

export interface DrillReport extends Counts {
  readonly use: KeyUse;
  /** Kids: which key signed before, and which after. */
  readonly from: string;
  readonly to: string;
  /** Of the key set that came with the takeover. */
  readonly seq: number | null;
  /** Epoch milliseconds, by the mint's clock. */
  readonly takenOverAt: number | null;
  /** How old the oldest token was that was accepted although its key signed no more. */
  readonly longestOverlapSeconds: number;
  /** The longest time after the takeover at which such a token was accepted. */
  readonly acceptedAfterTakeoverSeconds: number;
  /** Fans whose token of this use the old, and the new, key signed. */
  readonly signedByOld: number;
  readonly signedByNew: number;
  readonly propagation: readonly Propagation[];
  /** False: this mint keeps no reports of locations, or none has reported. */
  readonly locationReports: boolean;
  readonly checkers: readonly (Counts & { readonly name: string; readonly kind: string })[];
  readonly wrong: readonly Wrong[];
  readonly event: string;
  readonly seconds: number;
  /** The whole of it was done, and seen by every verifier and location. */
  readonly completed: boolean;
  readonly problems: readonly string[];
  readonly interrupted?: true;
}

/** What makes a drill a good one. */
export function isPassed({ completed, checked, ...wrong }: DrillReport): boolean {
  const { refused, forgedAccepted, overAccepted } = wrong;
  return completed && checked > 0 && refused === 0 && forgedAccepted === 0 && overAccepted === 0;
}

export function checkerRows(checkers: readonly Checker[], tally: Tally): DrillReport["checkers"] {
  return checkers.map((checker) => ({
    ...{ name: checker.name, kind: checker.kind },
    ...(tally.counts.get(checker) ?? noCounts()),
  }));
}

/** What locations have told the mint themselves. */
export function reported(
  rows: readonly EdgeRow[],
  { seq, at }: { seq: number; at: number },
): readonly Propagation[] {
  return rows.map(({ location, sender, keysSeq, keysSeqAt }) => ({
    name: `${oneLine(location, 64)} (${oneLine(sender, 24)})`,
    kind: "report",
    seconds:
      keysSeq !== undefined && keysSeq >= seq && keysSeqAt !== undefined
        ? seconds(Math.max(0, keysSeqAt - at))
        : null,
    newKeySeconds: null,
  }));
}

/** To a tenth. */
export function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}

/** @returns lines, none longer than the screen. */
export function reportLines(session: Session, report: DrillReport): readonly string[] {
  const { paint, human } = session;
  const number = (value: number, isBad = false): string =>
    paint(isBad && value > 0 ? "red" : "plain", figure(value));
  const shown = (checked: number, accepted: number): string =>
    `${number(checked)} shown, ${number(accepted, true)} accepted`;
  const facts: [string, string][] = [
    ["checked", `${number(report.checked)} times a good token was shown`],
    ["refused", number(report.refused, true)],
    ["forged", shown(report.forgedChecked, report.forgedAccepted)],
    ["over", shown(report.overChecked, report.overAccepted)],
    ["overlap", overlap(report)],
    ["took", span(report.seconds * 1_000)],
  ];
  return [
    "",
    ...wrap(verdictOf(session, report), human.columns),
    ...columns(facts.map(([what, text]) => [`  ${what}`, text])),
    ...(report.takenOverAt === null ? [] : propagationLines(session, report)),
    ...report.wrong.map(({ by, what, reason, ageSeconds }) =>
      paint("red", `  ${by}: ${what}, ${ageSeconds} s old: ${reason}`),
    ),
    ...report.problems.flatMap((problem) => wrap(paint("yellow", problem), human.columns)),
  ];
}

function verdictOf({ paint }: Session, report: DrillReport): string {
  if (isPassed(report)) {
    return paint(
      "green",
      "The drill went well: nothing that was good was refused, and nothing forged was taken.",
    );
  }
  if (report.interrupted === true) return paint("yellow", "The drill was interrupted.");
  return paint("red", "The drill failed.");
}

function propagationLines(session: Session, report: DrillReport): readonly string[] {
  const { paint, human } = session;
  const after = (value: number | null): string => (value === null ? "-" : `${value} s`);
  const rows = report.propagation.map(({ name, kind, seconds: set, newKeySeconds }) => [
    `  ${name}`,
    kind === "report" ? "-" : after(newKeySeconds),
    after(set),
  ]);
  return [
    "",
    paint("bold", "After the takeover"),
    ...columns([["  AT", "NEW KEY TAKEN", "NEW SET"], ...rows]).map((line) =>
      line.slice(0, human.columns),
    ),
    ...(report.locationReports ? [] : ["  no location reports"]),
  ];
}

function overlap({ longestOverlapSeconds, acceptedAfterTakeoverSeconds }: DrillReport): string {
  if (longestOverlapSeconds === 0) return "none was used";
  return `a token of the key before, ${longestOverlapSeconds} s old, ${acceptedAfterTakeoverSeconds} s after`;
}

/** What a drill that never came to the takeover says of it. */
export function takeoverFacts({ from, to, at }: Takeover): {
  from: string;
  to: string;
  takenOverAt: number | null;
} {
  return { from, to, takenOverAt: at ?? null };
}

export function fansWord(count: number): string {
  return plural(count, "fan");
}

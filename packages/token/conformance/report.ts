/** What a run found, for people. */
import type { Refused, Verdict } from "./judge.ts";
import type { Vector } from "./pack.ts";

/** Of each kind of finding, unless all are asked for. */
const SHOWN_MAX = 40;

export function reportOf(
  verdict: Verdict,
  { all = false }: { readonly all?: boolean } = {},
): string {
  const { vectors, wronglyAccepted, wronglyRefused, unanswered, otherReasons } = verdict;
  const bad = wronglyAccepted.length + wronglyRefused.length + unanswered.length;
  return [
    ...section("WRONGLY ACCEPTED", wronglyAccepted.map(accepted), all),
    ...section("WRONGLY REFUSED", wronglyRefused.map(refused), all),
    ...section("NOT ANSWERED", unanswered.map(title), all),
    ...section("refused, with another reason (a note)", otherReasons.map(note), all),
    `${vectors} vectors: ${vectors - bad} as expected, ${wronglyAccepted.length} wrongly accepted, ` +
      `${wronglyRefused.length} wrongly refused, ${unanswered.length} not answered; ` +
      `${otherReasons.length} refused with another reason`,
  ].join("\n");
}

function section(name: string, lines: readonly string[], all: boolean): string[] {
  if (lines.length === 0) return [];
  const shown = all ? lines : lines.slice(0, SHOWN_MAX);
  const rest = lines.length - shown.length;
  return [
    `${name}: ${lines.length}`,
    ...shown.map((line) => `  ${line}`),
    ...(rest > 0 ? [`  … and ${rest} more (--all)`] : []),
    "",
  ];
}

function title({ id, group, name }: Vector): string {
  return `${id} [${group}] ${name}`;
}

function accepted(vector: Vector): string {
  return `${title(vector)}\n    should be ${vector.expected.reason}: ${vector.comment}`;
}

function refused({ vector, reason }: Refused): string {
  return `${title(vector)}\n    said ${reason ?? "nothing about it"}: ${vector.comment}`;
}

function note({ vector, reason }: Refused): string {
  return `${title(vector)}: ${vector.expected.reason}, said ${reason}`;
}

/** The published keys on an axis of time, one line each. Pure. */
import type { KeyView } from "@vestibule/contracts/keys-api";
import type { Paint, Style } from "./style.ts";
import { padTo } from "./style.ts";

export interface TimelineLook {
  readonly now: number;
  readonly columns: number;
  readonly unicode: boolean;
  readonly paint: Paint;
  /** A moment as the reader's clock shows it. */
  readonly clockTime: (at: number) => string;
}

interface Marks {
  readonly staged: string;
  readonly signing: string;
  readonly retiring: string;
  /** Before it took its present state, or as things are. */
  readonly other: string;
  readonly safe: string;
  readonly now: string;
}

const UNICODE: Marks = {
  staged: "░",
  signing: "█",
  retiring: "▒",
  other: "─",
  safe: "◆",
  now: "│",
};
const ASCII: Marks = {
  staged: ".",
  signing: "#",
  retiring: "=",
  other: "-",
  safe: "^",
  now: "|",
};
const COLOURS: Readonly<Record<keyof Marks, Style>> = {
  staged: "cyan",
  signing: "green",
  retiring: "yellow",
  other: "dim",
  safe: "bold",
  now: "plain",
};

/** The past that is shown at least, and the future where nothing is due. */
const PAST_MS_MIN = 900_000;
const FUTURE_MS_MIN = 120_000;
const LABEL_WIDTH = 12;
const CELLS_MAX = 100;

/** @returns no line longer than `columns`; none when there is no key. */
export function timeline(keys: readonly KeyView[], look: TimelineLook): readonly string[] {
  if (keys.length === 0) return [];
  const marks = look.unicode ? UNICODE : ASCII;
  const cells = Math.min(CELLS_MAX, look.columns - LABEL_WIDTH);
  const axis = axisOf(keys, look.now, cells);
  const rows = keys.map((key) => {
    const line = Array.from({ length: cells }, (_, cell) => {
      const mark = markOf(key, { cell, axis, now: look.now });
      return mark === undefined ? " " : look.paint(COLOURS[mark], marks[mark]);
    });
    return `  ${padTo(key.kid.slice(0, 8), LABEL_WIDTH - 2)}${line.join("")}`.trimEnd();
  });
  return [scale(axis, cells, look), ...rows, "", ...legend(marks, look)];
}

interface Axis {
  readonly from: number;
  readonly cellMs: number;
  readonly nowCell: number;
}

/** As far back as there is something to see, as far ahead as the last thing that is due. */
function axisOf(keys: readonly KeyView[], now: number, cells: number): Axis {
  const ahead = Math.max(
    FUTURE_MS_MIN,
    ...keys.map((key) => Math.max(key.until ?? 0, key.next?.safeFrom ?? 0) - now),
  );
  const oldest = Math.max(0, ...keys.map(({ createdAt }) => now - createdAt));
  const back = Math.min(Math.max(oldest, FUTURE_MS_MIN), Math.max(ahead, PAST_MS_MIN));
  const cellMs = ((ahead + back) * 1.04) / cells;
  const from = now - back * 1.02;
  return { from, cellMs, nowCell: Math.floor((now - from) / cellMs) };
}

function markOf(
  key: KeyView,
  { cell, axis, now }: { cell: number; axis: Axis; now: number },
): keyof Marks | undefined {
  if (cell === axis.nowCell) return "now";
  const begins = axis.from + cell * axis.cellMs;
  const ends = begins + axis.cellMs;
  const { createdAt, since, state, until = Infinity } = key;
  if (ends <= createdAt || begins >= until) return undefined;
  const safeFrom = key.next?.safeFrom ?? Infinity;
  if (state === "staged") {
    if (safeFrom > now && begins <= safeFrom && safeFrom < ends) return "safe";
    return begins < safeFrom || cell < axis.nowCell ? "staged" : "other";
  }
  if (state === "retiring") return ends <= since ? "other" : "retiring";
  if (ends <= since) return "staged";
  return cell < axis.nowCell ? "signing" : "other";
}

/** The two ends of the axis, and where now is. */
function scale({ from, cellMs, nowCell }: Axis, cells: number, look: TimelineLook): string {
  const line = Array.from({ length: cells }, () => " ");
  const write = (text: string, at: number): void => {
    const start = Math.max(0, Math.min(at, cells - text.length));
    const isFree =
      line
        .slice(Math.max(0, start - 1), start + text.length + 1)
        .join("")
        .trim() === "";
    if (isFree) for (const [index, char] of Array.from(text).entries()) line[start + index] = char;
  };
  write("now", nowCell - 1);
  write(look.clockTime(Math.max(0, from)), 0);
  write(look.clockTime(from + cells * cellMs), cells);
  return look.paint("dim", `${" ".repeat(LABEL_WIDTH)}${line.join("")}`.trimEnd());
}

function legend(marks: Marks, { columns, paint }: TimelineLook): readonly string[] {
  const parts = [
    `${marks.staged} staged`,
    `${marks.signing} signs`,
    `${marks.retiring} retiring`,
    `${marks.other} before, or as things are`,
    `${marks.safe} safe from`,
    `${marks.now} now`,
  ];
  const text = `  ${parts.join("   ")}`;
  return text.length <= columns
    ? [paint("dim", text)]
    : [
        paint("dim", `  ${parts.slice(0, 3).join("   ")}`),
        paint("dim", `  ${parts.slice(3).join("   ")}`),
      ];
}

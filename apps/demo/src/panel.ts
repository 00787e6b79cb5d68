/** What the terminal shows, as lines of text. Pure. */
import { styleText } from "node:util";

/** One reading of the running sale. */
export interface Snapshot {
  readonly title: string;
  readonly state: string;
  readonly waiting: number;
  readonly serving: number;
  /** Never falls. */
  readonly letIn: number;
  readonly sold: number;
  readonly seats: number;
  readonly ratePerMinute: number;
  /** How purchases were answered, and how often. */
  readonly purchases: ReadonlyMap<string, number>;
  /** Where limiter and gate count, in a few words. */
  readonly limitsIn: string;
  readonly checks: number;
  readonly violations: readonly string[];
  readonly runningSeconds: number;
  readonly links: readonly Link[];
  /** A part that does not answer right now, and the like. */
  readonly trouble: string | undefined;
}

export interface Link {
  readonly label: string;
  readonly target: string;
}

export interface Look {
  readonly columns: number;
  readonly color: boolean;
}

const BAR_CELLS_MAX = 32;
const MARGIN = "  ";

/** The panel, redrawn in place on a terminal. No line is longer than `columns`. */
export function panelLines(snapshot: Snapshot, look: Look): readonly string[] {
  const paint = painter(look.color);
  const { sold, seats } = snapshot;
  const width = look.columns - MARGIN.length;
  const share = seats === 0 ? 1 : sold / seats;
  const cells = Math.max(0, Math.min(BAR_CELLS_MAX, look.columns - 44));
  const full = Math.min(cells, Math.floor(share * cells));
  const bar = `${paint("green", "━".repeat(full))}${paint("gray", "─".repeat(cells - full))}`;
  const row = (label: string, value: string): string =>
    `${paint("gray", label.padEnd(12))}${value}`;
  const pair = (label: string, value: string, label2: string, value2: string): string =>
    row(label, `${value.padEnd(16)}${paint("gray", label2.padEnd(12))}${value2}`);
  const whole = (value: number): string => value.toLocaleString("en");
  const links = snapshot.links.map(({ label, target }) =>
    row(label.padEnd(15), paint(target.startsWith("http") ? "cyan" : "none", target)),
  );
  const bad = snapshot.violations;
  return [
    "",
    `${paint("bold", snapshot.title)}   ${paint("gray", `${stateWord(snapshot.state)} · ${clock(snapshot.runningSeconds)}`)}`,
    "",
    pair(
      "in line",
      snapshot.waiting === 1 ? "1 person" : `${whole(snapshot.waiting)} people`,
      "now serving",
      `number ${whole(snapshot.serving)}`,
    ),
    pair("let in", whole(snapshot.letIn), "pace", `${whole(snapshot.ratePerMinute)} a minute`),
    row(
      "seats sold",
      `${`${whole(sold)} of ${whole(seats)}`.padEnd(16)}${bar} ${Math.floor(share * 100)} %`,
    ),
    row("crowd", purchaseWords(snapshot.purchases)),
    row(
      "crowd saw",
      bad.length === 0
        ? `nothing wrong in ${whole(snapshot.checks)} checks`
        : paint("red", `${bad.length} VIOLATIONS, the last: ${bad.at(-1)}`),
    ),
    row("limits in", snapshot.limitsIn),
    "",
    ...links,
    "",
    ...(snapshot.trouble === undefined
      ? []
      : [...wrapped(snapshot.trouble, width).map((line) => paint("yellow", line)), ""]),
    ...wrapped(closing(snapshot.state), width).map((line) => paint("gray", line)),
  ].map((line) => clip(`${line === "" ? "" : MARGIN}${line}`, look.columns));
}

/** One line every few seconds, where there is no terminal. */
export function plainLine(snapshot: Snapshot): string {
  const parts = [
    stateWord(snapshot.state),
    `in line ${snapshot.waiting}`,
    `now serving number ${snapshot.serving}`,
    `let in ${snapshot.letIn}`,
    `pace ${snapshot.ratePerMinute}/min`,
    `seats sold ${snapshot.sold}/${snapshot.seats}`,
    `crowd: ${purchaseWords(snapshot.purchases)}`,
    `checks ${snapshot.checks}, violations ${snapshot.violations.length}`,
    ...(snapshot.trouble === undefined ? [] : [snapshot.trouble]),
  ];
  return `${clock(snapshot.runningSeconds)}  ${parts.join(" · ")}`;
}

function closing(state: string): string {
  if (state === "soldout") {
    return "Every seat is taken. Should seats come back, the sale goes on by itself. Ctrl-C, and the next start opens a new one; --reset also forgets the old.";
  }
  if (state === "ended") {
    return "The sale is over. Ctrl-C, and the next start opens a new one; --reset also forgets the old.";
  }
  if (state === "paused") {
    return "The sale is paused: nobody new gets in until it is resumed (docs/operating.md, Steering a sale). Ctrl-C stops everything.";
  }
  return "Open the first link to wait in line yourself. Ctrl-C stops everything; the next start goes on with the same sale.";
}

function stateWord(state: string): string {
  return state === "soldout" ? "sold out" : state;
}

function purchaseWords(purchases: ReadonlyMap<string, number>): string {
  if (purchases.size === 0) return "nobody has tried to buy yet";
  return [...purchases]
    .sort(([, a], [, b]) => b - a)
    .map(([outcome, count]) => {
      // "8 401 …" would read as one number.
      const times = /^\d/.test(outcome) ? " ×" : "";
      return `${count.toLocaleString("en")}${times} ${outcome}`;
    })
    .join(", ");
}

function clock(seconds: number): string {
  const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  const hours = seconds >= 3600 ? `${Math.floor(seconds / 3600)}:` : "";
  return `${hours}${two((seconds % 3600) / 60)}:${two(seconds % 60)}`;
}

type Style = "bold" | "gray" | "green" | "cyan" | "red" | "yellow" | "none";

function painter(color: boolean): (style: Style, text: string) => string {
  return (style, text) =>
    color && style !== "none" ? styleText(style, text, { validateStream: false }) : text;
}

/** Lines of whole words; a word that is longer than a line stays whole and is clipped. */
function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (longer.length > width && line !== "") {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

/** A longer line would wrap, and the next drawing would begin in the wrong place. */
function clip(line: string, columns: number): string {
  let width = 0;
  let out = "";
  // oxlint-disable-next-line no-control-regex -- colours have no width, and they begin with ESC
  for (const part of line.split(/(\u001b\[[0-9;]*m)/)) {
    if (part.startsWith("\u001b")) out += part;
    else {
      const room = Math.max(0, columns - width);
      out += part.slice(0, room);
      width += part.length;
    }
  }
  return out;
}

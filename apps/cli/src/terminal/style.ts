/** Colours, where they are wanted, and widths that do not count them. */
import { styleText } from "node:util";

export type Style = "bold" | "dim" | "green" | "yellow" | "red" | "cyan" | "plain";
export type Paint = (style: Style, text: string) => string;

export function painter(color: boolean): Paint {
  return (style, text) =>
    color && style !== "plain" ? styleText(style, text, { validateStream: false }) : text;
}

// oxlint-disable-next-line no-control-regex -- colours begin with ESC
const COLOUR = /\u001b\[[0-9;]*m/g;

export function widthOf(text: string): number {
  return text.replace(COLOUR, "").length;
}

export function padTo(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

/** Rows as columns, each as wide as its widest cell; no space at the end of a line. */
export function columns(rows: readonly (readonly string[])[], gap = 2): readonly string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [index, cell] of row.entries())
      widths[index] = Math.max(widths[index] ?? 0, widthOf(cell));
  return rows.map((row) =>
    row
      .map((cell, index) => (index === row.length - 1 ? cell : padTo(cell, widths[index] ?? 0)))
      .join(" ".repeat(gap))
      .trimEnd(),
  );
}

/** Lines of whole words, none longer than `width` unless one word is. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (widthOf(longer) > width && line !== "") {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

const LABEL_WIDTH = 16;

/** What will be done, and what it means: a label and some text each, wrapped beside the labels. */
export function factLines(
  facts: readonly (readonly [label: string, text: string])[],
  width: number,
): readonly string[] {
  return facts.flatMap(([label, text]) =>
    wrap(text, width - LABEL_WIDTH - 2).map(
      (line, index) => `  ${padTo(index === 0 ? label : "", LABEL_WIDTH)}${line}`,
    ),
  );
}

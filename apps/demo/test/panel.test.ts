import { expect, test } from "vitest";

import { Display } from "../src/display.ts";
import { type Snapshot, panelLines, plainLine } from "../src/panel.ts";

const SNAPSHOT: Snapshot = {
  title: "Vestibule · demo",
  state: "open",
  waiting: 84,
  serving: 1_204,
  letIn: 1_120,
  sold: 1_334,
  seats: 2_000,
  ratePerMinute: 120,
  purchases: new Map([
    ["second tries refused", 4],
    ["bought", 980],
  ]),
  limitsIn: "Redis 7.0.15, started with this sale",
  checks: 18_402,
  violations: [],
  runningSeconds: 134,
  links: [{ label: "join the line", target: "http://localhost:8787/events/demo" }],
  trouble: undefined,
};

test("the panel says who waits, whose turn it is, who is in, what is sold, at which rate, and where to go", () => {
  const text = panelLines(SNAPSHOT, { columns: 100, color: false }).join("\n");
  for (const words of [
    "84",
    "number 1,204",
    "1,120",
    "1,334 of 2,000",
    "66 %",
    "120 a minute",
    "980 bought, 4 second tries refused",
    "Redis 7.0.15, started with this sale",
    "nothing wrong",
    "http://localhost:8787/events/demo",
    "02:14",
  ]) {
    expect(text).toContain(words);
  }
  expect(text).not.toContain("\u001b");
});

test("a count and the status that it counts are not read as one number", () => {
  const purchases = new Map([["401 admission-required", 8]]);
  const shown = { ...SNAPSHOT, purchases };
  const text = panelLines(shown, { columns: 100, color: false }).join("\n");
  for (const said of [text, plainLine(shown)]) expect(said).toContain("8 × 401 admission-required");
});

test.each([10, 40, 60, 80, 200])("no line is wider than %i columns, colours aside", (columns) => {
  for (const line of panelLines(SNAPSHOT, { columns, color: true })) {
    // oxlint-disable-next-line no-control-regex -- colours have no width, and they begin with ESC
    expect(line.replaceAll(/\u001b\[[0-9;]*m/g, "").length).toBeLessThanOrEqual(columns);
  }
});

test("a violation and a part that does not answer cannot be overlooked", () => {
  const bad = { ...SNAPSHOT, violations: ["number 7 twice"], trouble: "No answer" };
  const text = panelLines(bad, { columns: 100, color: false }).join("\n");
  expect(text).toMatch(/1 VIOLATIONS.*number 7 twice/);
  expect(text).toContain("No answer");
  expect(plainLine(bad)).toContain("violations 1");
});

test("when the seats are gone it says so, what brings the sale back, and how to begin anew", () => {
  const text = panelLines({ ...SNAPSHOT, state: "soldout" }, { columns: 120, color: false });
  expect(text.join("\n")).toMatch(/sold out[^]*seats come back[^]*--reset/);
  expect(plainLine({ ...SNAPSHOT, state: "soldout" })).toContain("sold out");
});

test("trouble is read to its end on a narrow terminal", () => {
  const trouble = `Redis does not run: ${"word ".repeat(30)}and that is all`;
  const lines = panelLines({ ...SNAPSHOT, trouble }, { columns: 60, color: false });
  expect(lines.map((line) => line.trim()).join(" ")).toContain("and that is all");
});

test("without a terminal there are the links once, a line every five seconds, and at once when the state changes", () => {
  const written: string[] = [];
  const display = new Display({
    isTTY: false,
    color: false,
    columns: () => 80,
    rows: () => 24,
    write: (text) => written.push(text),
  });
  for (let ms = 0; ms < 10_000; ms += 1_000) display.show(SNAPSHOT, ms);
  const { links } = SNAPSHOT;
  for (const { target } of links) expect(written.join("")).toContain(target);
  expect(written.length).toBe(links.length + 2);
  display.show({ ...SNAPSHOT, state: "soldout" }, 10_000);
  display.show({ ...SNAPSHOT, state: "ended" }, 10_500);
  expect(written.length).toBe(links.length + 4);
  expect(written.join("")).not.toContain("\u001b");
});

test("the panel is redrawn in place, never higher than the window", () => {
  let written = "";
  const display = new Display({
    isTTY: true,
    color: false,
    columns: () => 80,
    rows: () => 6,
    write: (text) => (written = text),
  });
  display.show(SNAPSHOT, 0);
  expect(written.split("\n").length - 1).toBe(5);
  display.show(SNAPSHOT, 1_000);
  expect(written).toContain("\u001b[5A");
  display.close();
  expect(written).toBe("\u001b[?25h");
});

import { describe, expect, it } from "vitest";

import { reportOf } from "../src/report.ts";
import type { Row } from "../src/row.ts";

const row: Row = {
  name: "some-row",
  what: "",
  floor: "",
  unit: "requests/s",
  atLeast: 1.41,
  timeoutMs: 1,
  measure: () => Promise.reject(new Error("never called")),
};
const measured = { candidate: 200, floor: 100, ratio: 2, notes: [] };

describe("the verdict of a row", () => {
  it("passes at its limit and above", () => {
    expect(reportOf(row, measured).pass).toBe(true);
    expect(reportOf(row, { ...measured, ratio: 1.41 }).pass).toBe(true);
    expect(reportOf(row, { ...measured, ratio: 1.4 }).pass).toBe(false);
  });

  it("misses whatever its ratio when something else that had to hold did not", () => {
    expect(reportOf(row, { ...measured, misses: ["oversold"] })).toMatchObject({
      ratio: 2,
      pass: false,
    });
    expect(reportOf(row, { ...measured, misses: [] }).pass).toBe(true);
  });
});

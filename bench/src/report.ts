import type { Measured, Row, RowReport } from "./row.ts";

/** The row's verdict. Every row but `page-bytes` passes at its limit; a page must be below. Other conditions of a row count too. */
export function reportOf(row: Row, measured: Measured): RowReport {
  return {
    name: row.name,
    candidate: rounded(measured.candidate),
    floor: rounded(measured.floor),
    unit: row.unit,
    ratio: rounded(measured.ratio),
    atLeast: row.atLeast,
    pass: measured.ratio >= row.atLeast && (measured.misses ?? []).length === 0,
  };
}

export function failureOf(row: Row): RowReport {
  return {
    name: row.name,
    candidate: 0,
    floor: 0,
    unit: row.unit,
    ratio: 0,
    atLeast: row.atLeast,
    pass: false,
  };
}

function rounded(value: number): number {
  return Number(value.toPrecision(5));
}

/** The table for a terminal. */
export function table(
  results: readonly { readonly report: RowReport; readonly measured?: Measured }[],
): string {
  const lines = results.map(({ report, measured }) => [
    report.name,
    number(report.candidate),
    number(report.floor),
    report.unit,
    report.ratio.toFixed(3),
    measured?.spread === undefined
      ? ""
      : `${measured.spread.low.toFixed(3)} to ${measured.spread.high.toFixed(3)} (${measured.spread.rounds})`,
    report.atLeast.toFixed(3),
    report.pass ? "pass" : "MISS",
  ]);
  const head = ["row", "candidate", "floor", "unit", "ratio", "half of the rounds", "at least", ""];
  const widths = head.map((title, column) =>
    Math.max(title.length, ...lines.map((line) => line[column]?.length ?? 0)),
  );
  return [head, ...lines]
    .map((line) =>
      line
        .map((cell, column) => {
          const width = widths[column] ?? 0;
          return [1, 2, 4, 6].includes(column) ? cell.padStart(width) : cell.padEnd(width);
        })
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function number(value: number): string {
  return value.toLocaleString("en", { maximumFractionDigits: value < 100 ? 1 : 0 });
}

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { runTool } from "./run-tool.ts";
import type { StepResult } from "./step.ts";

/** Runs one project of vitest.config.ts. One in which no test ran has failed, unless filters narrow it. */
export async function runProject(project: string, filters: readonly string[]): Promise<StepResult> {
  const directory = mkdtempSync(join(tmpdir(), "vestibule-test-"));
  const summaryFile = join(directory, "summary.json");
  try {
    const ok = await runTool(
      "vitest",
      [
        "run",
        `--project=${project}`,
        "--reporter=default",
        "--reporter=./test/reporter.ts",
        ...(filters.length > 0 ? ["--passWithNoTests", ...filters] : []),
      ],
      { VESTIBULE_TEST_SUMMARY: summaryFile },
    );
    const summary = readSummary(summaryFile);
    const ran = summary.passed + summary.failed + summary.skipped.length;
    if (ran === 0 && filters.length === 0) console.log(`${project}: no test ran`);
    // An error outside of tests, or a run that died: failed, whatever the tests said.
    const failed = Math.max(summary.failed, !ok || (ran === 0 && filters.length === 0) ? 1 : 0);
    return { ...summary, failed };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function readSummary(path: string): StepResult {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as StepResult;
  } catch {
    return { passed: 0, failed: 1, skipped: [] };
  }
}

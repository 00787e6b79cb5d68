/** Counts what vitest ran and keeps the reason of each skipped test, for `pnpm test`. */
import { writeFileSync } from "node:fs";

import type { Reporter, TestModule } from "vitest/node";

export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const path = process.env["VESTIBULE_TEST_SUMMARY"];
    if (path === undefined) return;
    let passed = 0;
    let failed = 0;
    const skipped: { what: string; why: string }[] = [];
    for (const module of modules) {
      if (module.errors().length > 0) failed += 1;
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === "passed") passed += 1;
        else if (result.state === "skipped" && result.note !== undefined) {
          skipped.push({ what: `${module.relativeModuleId}: ${test.fullName}`, why: result.note });
        } else {
          failed += 1;
          if (result.state === "skipped") console.log(`skipped without a reason: ${test.fullName}`);
        }
      }
    }
    writeFileSync(path, JSON.stringify({ passed, failed, skipped }));
  }
}

import { globSync } from "node:fs";
import { dirname, join } from "node:path";

import { captureTool, ROOT } from "./run-tool.ts";
import type { StepResult } from "./step.ts";

const CONCURRENCY = 2;

/** Checks every tsconfig.json of the workspace that has sources. */
export async function checkTypes(): Promise<StepResult> {
  const projects = globSync(
    ["tsconfig.json", "*/tsconfig.json", "{apps,packages}/**/tsconfig.json"],
    {
      cwd: ROOT,
      exclude: (name) => name.includes("node_modules") || name.includes("fixtures"),
    },
  ).filter(
    (project) =>
      globSync("**/*.ts", { cwd: join(ROOT, dirname(project)), exclude: ["node_modules"] }).length >
      0,
  );

  let passed = 0;
  let failed = 0;
  const queue = projects.toSorted();
  const worker = async (): Promise<void> => {
    for (let project = queue.shift(); project !== undefined; project = queue.shift()) {
      const { ok, output } = await captureTool("tsc", ["-p", project]);
      if (ok) passed += 1;
      else if (output.includes("TS18003")) continue; // no sources of its own yet
      else {
        failed += 1;
        console.log(`${project}\n${output}`);
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  if (passed + failed === 0) throw new Error("no project found: the type check saw nothing");
  console.log(`${passed + failed} projects`);
  return { passed, failed, skipped: [] };
}

/**
 * `pnpm test [step …] [filter …]`: everything that proves a change, in order, or the named steps
 * only. What is not the name of a step narrows the test files. The last line counts.
 */
import { checkEdge } from "./steps/edge.ts";
import { runTool } from "./steps/run-tool.ts";
import { type Step, type StepResult, verdict } from "./steps/step.ts";
import { checkTypes } from "./steps/types.ts";
import { runProject } from "./steps/vitest.ts";

const tool = (name: string, about: string, ...command: [string, ...string[]]): Step => ({
  name,
  about,
  runsFiles: false,
  run: async () => verdict(await runTool(command[0], command.slice(1))),
});
const project = (name: string, about: string): Step => ({
  name,
  about,
  runsFiles: true,
  run: (filters) => runProject(name, filters),
});

const STEPS: readonly Step[] = [
  tool("format", "oxfmt, check only", "oxfmt", "--check", "."),
  tool("lint", "oxlint, with types, no warnings", "oxlint"),
  { name: "types", about: "TypeScript, every project", runsFiles: false, run: checkTypes },
  tool("knip", "nothing unused, nothing undeclared", "knip", "--no-config-hints"),
  {
    name: "edge",
    about: "the Worker builds, is small and cannot sign",
    runsFiles: false,
    run: checkEdge,
  },
  project("arch", "the fences hold, and each catches its fixture"),
  project("unit", "laws and rules, in Node"),
  project("workerd", "the same in the runtime of the edge"),
  project("simulation", "a thousand sales in virtual time, with everything going wrong"),
  project("integration", "on a real PostgreSQL, and on a real Valkey or Redis"),
  project("e2e", "the running system, over HTTP and in a browser"),
  project("torture", "its processes, killed and cut off under load"),
];

async function main(words: readonly string[]): Promise<void> {
  const names = new Set(STEPS.map((step) => step.name));
  const wanted = words.filter((word) => names.has(word));
  const filters = words.filter((word) => !names.has(word) && word !== "--");
  const steps = STEPS.filter((step) => {
    if (wanted.length > 0) return wanted.includes(step.name);
    return filters.length === 0 || step.runsFiles;
  });

  let passed = 0;
  let failed = 0;
  const skipped: StepResult["skipped"][number][] = [];
  const broken: string[] = [];
  for (const [index, step] of steps.entries()) {
    console.log(`\n── ${index + 1}/${steps.length} ${step.name}: ${step.about}`);
    const startedAtMs = Date.now();
    const result = await attempt(step, filters);
    passed += result.passed;
    failed += result.failed;
    skipped.push(...result.skipped);
    if (result.failed > 0) broken.push(step.name);
    const seconds = ((Date.now() - startedAtMs) / 1_000).toFixed(1);
    console.log(`── ${step.name} ${result.failed > 0 ? "FAILED" : "passed"} in ${seconds} s`);
  }

  console.log("");
  for (const { what, why } of skipped) console.log(`!!! SKIPPED ${what}\n    because ${why}`);
  if (skipped.length > 0 && process.env["CI"] !== undefined) {
    console.log("!!! nothing may be skipped in CI: each of the above counts as failed");
    failed += skipped.length;
    skipped.length = 0;
  }
  if (passed + failed + skipped.length === 0) {
    console.log(`nothing ran: no step and no test file is called ${words.join(" ")}`);
    failed = 1;
  }
  if (broken.length > 0) console.log(`failed: ${broken.join(", ")}`);
  process.exitCode = failed > 0 ? 1 : 0;
  console.log(`${passed} passed, ${failed} failed, ${skipped.length} skipped`);
}

async function attempt(step: Step, filters: readonly string[]): Promise<StepResult> {
  try {
    return await step.run(filters);
  } catch (error) {
    console.log(error);
    return verdict(false);
  }
}

await main(process.argv.slice(2));

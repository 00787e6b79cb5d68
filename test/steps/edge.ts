/** Builds the Worker as a deploy does, without deploying, and looks at what would be shipped. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { inspectBundle } from "../arch/edge-bundle.ts";
import { runTool } from "./run-tool.ts";
import { type StepResult, verdict } from "./step.ts";

export async function checkEdge(): Promise<StepResult> {
  const directory = mkdtempSync(join(tmpdir(), "vestibule-edge-"));
  try {
    const built = await runTool("wrangler", ["deploy", "--dry-run", "--outdir", directory]);
    if (!built) return verdict(false);
    const { findings, bytes, sources } = inspectBundle(directory);
    for (const finding of findings) console.log(`edge bundle: ${finding}`);
    console.log(`edge bundle: ${bytes} bytes from ${sources} sources`);
    return verdict(built, findings.length === 0);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

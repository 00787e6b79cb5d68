import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, join } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");

const ENVIRONMENT = {
  ...process.env,
  PATH: [join(ROOT, "node_modules/.bin"), process.env["PATH"]].join(delimiter),
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
  DO_NOT_TRACK: "1",
};

/** Runs an installed tool at the root, its output in ours. True when it ended with 0. */
export async function runTool(
  tool: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  const child = spawn(tool, args, {
    cwd: ROOT,
    env: { ...ENVIRONMENT, ...environment },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const [code] = (await once(child, "exit")) as [number | null];
  return code === 0;
}

/** The same, its output kept: for tools whose lines are only wanted when they fail. */
export async function captureTool(
  tool: string,
  args: readonly string[],
  cwd: string = ROOT,
): Promise<{ ok: boolean; output: string }> {
  const child = spawn(tool, args, { cwd, env: ENVIRONMENT, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const keep = (text: string): void => void (output += text);
  child.stdout.setEncoding("utf8").on("data", keep);
  child.stderr.setEncoding("utf8").on("data", keep);
  const [code] = (await once(child, "close")) as [number | null];
  return { ok: code === 0, output };
}

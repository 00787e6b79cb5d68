/** Builds the Worker as a deploy does (wrangler.toml): one ES module, for workerd and not for Node. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { StartFailure } from "./failure.ts";
import { lastWords, missing } from "./supervisor.ts";

export interface WorkerSettings {
  readonly main: string;
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
}

/**
 * The three lines of wrangler.toml that decide what the code means. Read here, so that demo and
 * deploy cannot part.
 *
 * @throws StartFailure when one of them is not there.
 */
export function readWorkerSettings(path: string): WorkerSettings {
  const text = readFileSync(path, "utf8");
  const value = (name: string, pattern: string): string => {
    const found = new RegExp(`^${name}\\s*=\\s*${pattern}\\s*$`, "m").exec(text)?.[1];
    if (found === undefined) throw new StartFailure(`${path} does not say ${name}.`);
    return found;
  };
  return {
    main: value("main", '"([^"]+)"'),
    compatibilityDate: value("compatibility_date", '"([^"]+)"'),
    compatibilityFlags: [
      ...value("compatibility_flags", "\\[([^\\]]*)\\]").matchAll(/"([^"]+)"/g),
    ].map((match) => match[1] ?? ""),
  };
}

/** The edge's own build step: script and style of the holding page, which the Worker contains. */
async function buildPage(root: string): Promise<void> {
  const script = join(root, "apps/edge/build/main.ts");
  try {
    await promisify(execFile)(process.execPath, [script], { cwd: root });
  } catch (error) {
    const { stderr = "" } = error as { stderr?: string };
    throw new StartFailure(`The holding page could not be built. ${lastWords(stderr)}`, {
      cause: error,
    });
  }
}

/**
 * @returns the text of the module.
 * @throws StartFailure when it cannot be built.
 */
export async function bundleEdge(options: { root: string; main: string }): Promise<string> {
  await buildPage(options.root);
  const esbuild = await import("esbuild").catch((error: unknown) => {
    throw missing("esbuild", error);
  });
  try {
    const result = await esbuild.build({
      absWorkingDir: options.root,
      entryPoints: [options.main],
      bundle: true,
      write: false,
      format: "esm",
      target: "es2024",
      conditions: ["workerd", "worker", "browser"],
      mainFields: ["browser", "module", "main"],
      external: ["cloudflare:*"],
      define: { "process.env.NODE_ENV": '"production"' },
      loader: { ".html": "text", ".svg": "text", ".txt": "text" },
      minify: true,
      legalComments: "none",
      logLevel: "silent",
    });
    return result.outputFiles[0]?.text ?? "";
  } catch (error) {
    if (/Could not find|ENOENT|not found|EACCES/.test(String(error))) {
      throw missing("esbuild", error);
    }
    throw new StartFailure(`The edge could not be built: ${String(error)}`, { cause: error });
  } finally {
    await esbuild.stop();
  }
}

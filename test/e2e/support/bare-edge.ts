/** A location of the deployed Worker in workerd itself: nothing is above it that could change a byte. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";

import { layOutWorkerd, workerdPort } from "@vestibule/testkit/workerd";

import type { System } from "../start-system.ts";
import { edgeVars } from "./edge-vars.ts";

export interface BareEdge {
  readonly port: number;
  stop(): Promise<void>;
}

/** @throws Error with workerd's own words when it does not listen. */
export async function startBareEdge(
  { ready, dataDir }: System,
  options: { port: number; vars: Readonly<Record<string, string>> },
): Promise<BareEdge> {
  const { command, args } = layOutWorkerd({
    directory: join(dataDir, `workerd-${options.port}`),
    script: readFileSync(join(dataDir, "edge", "edge.js"), "utf8"),
    port: options.port,
    vars: { ...(await edgeVars(ready)), LOCATION: "bare", ...options.vars },
  });
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe", "pipe"] });
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (said += text));
  const line = await Promise.race([
    once(child.stdio[3] as Readable, "data").then(([data]) => String(data)),
    once(child, "exit").then(() => ""),
  ]);
  if (workerdPort(line) !== options.port) throw new Error(`workerd does not listen:\n${said}`);
  return {
    port: options.port,
    stop: async () => {
      if (child.exitCode !== null) return;
      const closed = once(child, "close");
      child.kill("SIGTERM");
      await closed;
    },
  };
}

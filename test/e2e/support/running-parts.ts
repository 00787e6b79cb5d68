/** What the running system keeps to itself: read by tests that look for leaks. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { System } from "../start-system.ts";

interface LockFile {
  readonly children: readonly { readonly name: string; readonly pid: number }[];
}

/** The secrets of this data directory, by name. */
export function secretsOf({ dataDir }: System): Readonly<Record<string, string>> {
  return JSON.parse(readFileSync(join(dataDir, "secrets.json"), "utf8")) as Record<string, string>;
}

/** The process of one part; `undefined` when it does not run. */
export function partOf({ dataDir }: System, part: string): number | undefined {
  const lock = JSON.parse(readFileSync(join(dataDir, "running.json"), "utf8")) as LockFile;
  return lock.children.find(({ name }) => name === part)?.pid;
}

/** Everything that the process of one part was given; `undefined` where the system does not tell. */
export function environmentOf(system: System, part: string): string | undefined {
  const path = `/proc/${partOf(system, part)}/environ`;
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

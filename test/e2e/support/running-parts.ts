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

/** Everything that the process of one part was given; `undefined` where the system does not tell. */
export function environmentOf({ dataDir }: System, part: string): string | undefined {
  const lock = JSON.parse(readFileSync(join(dataDir, "running.json"), "utf8")) as LockFile;
  const found = lock.children.find(({ name }) => name === part);
  const path = `/proc/${found?.pid}/environ`;
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

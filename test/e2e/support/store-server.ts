/** A Valkey or Redis of this machine, for tests of what the start does with one. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";

import { eventually } from "./eventually.ts";
import { listen } from "../start-system.ts";

export const SERVER: string | undefined = ["valkey-server", "redis-server"].find(
  (program) => spawnSync(program, ["--version"]).status === 0,
);
export const NO_SERVER = "there is no valkey-server and no redis-server on PATH";

/** Resolves when it has its port. Ended by the caller. */
export async function startServer(options: {
  port: number;
  password: string;
}): Promise<ChildProcess> {
  const { port, password } = options;
  const child = spawn(SERVER ?? "", ["-"], { stdio: ["pipe", "ignore", "ignore"] });
  child.stdin.end(`bind 127.0.0.1\nport ${port}\nrequirepass ${password}\nsave ""\n`);
  await eventually("the server listens", async () => {
    const free = await listen(port);
    free?.close();
    return free === undefined;
  });
  return child;
}

/** A PATH on which everything is but these programs: a folder in `place` of links to the others. */
export function pathWithout(place: string, programs: readonly string[]): string {
  const folder = mkdtempSync(join(place, "path-"));
  // What the launcher, its shell and PostgreSQL's tools call by name.
  const needed = ["sh", "id", "rm", "chmod", "sleep", "ps", "locale", "cat"];
  for (const name of needed.filter((one) => !programs.includes(one))) {
    const found = (process.env["PATH"] ?? "")
      .split(delimiter)
      .map((directory) => join(directory, name))
      .find((path) => existsSync(path));
    if (found !== undefined) symlinkSync(found, join(folder, name));
  }
  return folder;
}

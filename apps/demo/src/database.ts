/** The real PostgreSQL of the sale: made once, started with the sale, stopped last. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import postgres from "postgres";

import { StartFailure, diskFull, explainFileError, isDiskFull } from "./failure.ts";
import type { Home } from "./home.ts";
import { checkSpace } from "./home.ts";
import { freePort } from "./ports.ts";
import {
  type RunAs,
  canReach,
  chooseUser,
  handOver,
  idsOf,
  installedBinaries,
  makePrivate,
  outsidePlace,
  runnableBinaries,
} from "./postgres-binaries.ts";
import { commandLineOf, identityOf } from "./process-identity.ts";
import { endProcess } from "./run-lock.ts";
import { type Part, type Supervisor, lastWords } from "./supervisor.ts";

const SUPERUSER = "vestibule";
const DATABASES = ["mint", "purchase"] as const;
const MAJOR = "18";
const READY_POLLS_MAX = 300;
const READY_POLL_MS = 100;
/** Dynamic shared memory as files: /dev/shm is often tiny in containers. */
const SETTINGS = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "100",
  shared_buffers: "64MB",
  dynamic_shared_memory_type: "mmap",
  max_wal_size: "256MB",
  lc_messages: "C",
  timezone: "UTC",
  log_timezone: "UTC",
};

export interface DatabaseUrls {
  readonly mint: string;
  readonly purchase: string;
  /** Told to the reader when it is not simply below the data directory. */
  readonly note: string | undefined;
}

/** Where binaries and data are for this start. */
interface Place {
  readonly bin: string;
  readonly data: string;
  readonly as: RunAs;
  readonly outside: boolean;
}

/** @throws StartFailure when it cannot be made or does not start, with what to do. */
export async function startDatabase(options: {
  home: Home;
  password: string;
  /** Where the ports of the other parts begin. */
  portBase: number;
  supervisor: Supervisor;
  signal: AbortSignal;
}): Promise<DatabaseUrls> {
  const { home, password, portBase, supervisor, signal } = options;
  const place = await findPlace(home);
  try {
    await endForgotten(place.data);
    if (!existsSync(join(place.data, "PG_VERSION"))) {
      checkSpace(home.directory);
      await initialize({ place, password, signal });
    }
    checkVersion(place.data);
  } catch (error) {
    throw explainFileError(error, place.data);
  }
  const port = await freePort(portBase);
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const part = await supervisor.start({
    name: "postgres",
    command: join(place.bin, "postgres"),
    args: ["-D", place.data, "-p", String(port), ...settings],
    cwd: "/",
    env: environment(),
    uid: place.as.uid,
    gid: place.as.gid,
    stopSignal: "SIGINT", // "fast": ends sessions, writes a checkpoint
    stopTimeoutMs: 8_000,
  });
  const url = (database: string): string =>
    `postgres://${SUPERUSER}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
  await makeDatabases(url("postgres"), part, { home, signal });
  return {
    mint: url("mint"),
    purchase: url("purchase"),
    note: place.outside
      ? `PostgreSQL does not run as root; it runs as ${place.as.name}, who cannot reach ${home.directory}: its data are in ${place.data}`
      : undefined,
  };
}

/** Removes what lies outside of the data directory, and belongs to it. */
export function forgetOutside(home: Home): void {
  if (process.getuid?.() === 0) {
    rmSync(outsidePlace(home.directory), { recursive: true, force: true });
  }
}

async function findPlace(home: Home): Promise<Place> {
  const installed = await installedBinaries();
  const inside = join(home.directory, "postgres");
  const as = chooseUser(inside);
  const reachable = canReach(home.directory, as);
  const base = reachable ? home.directory : outsidePlace(home.directory);
  try {
    if (!reachable) makePrivate(base, as);
  } catch (error) {
    throw explainFileError(error, base);
  }
  const bin = runnableBinaries(installed, base, as);
  return { bin, data: join(base, "postgres"), as, outside: !reachable };
}

/** Ends a server that a killed launcher left on these data; the caller holds the lock, so that it is nobody else's. */
async function endForgotten(data: string): Promise<void> {
  const file = join(data, "postmaster.pid");
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, "utf8").split("\n")[0]);
  const identity = Number.isInteger(pid) && pid > 1 ? identityOf(pid) : undefined;
  if (identity !== undefined && commandLineOf(pid).includes(`-D ${data} `)) {
    await endProcess(identity, "SIGINT");
  }
  // The number may belong to another program by now, and PostgreSQL would then refuse to start.
  rmSync(file, { force: true });
}

async function initialize(options: {
  place: Place;
  password: string;
  signal: AbortSignal;
}): Promise<void> {
  const { place, password, signal } = options;
  // Half a database, left by a kill, is never taken for one: it gets its name when it is whole.
  const draft = `${place.data}.new`;
  rmSync(draft, { recursive: true, force: true });
  makePrivate(draft, place.as);
  const passwordFile = join(draft, "password");
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  handOver(passwordFile, place.as);
  const child = spawn(
    join(place.bin, "initdb"),
    [
      `--pgdata=${join(draft, "data")}`,
      `--username=${SUPERUSER}`,
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--no-locale",
      "--no-sync", // a power cut in the first seconds costs a demo that has sold nothing
    ],
    {
      cwd: "/",
      env: environment(),
      ...idsOf(place.as),
      stdio: ["ignore", "ignore", "pipe"],
      detached: true,
    },
  );
  const end = (): void => void child.kill("SIGTERM");
  signal.addEventListener("abort", end, { once: true });
  let words = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (words += text));
  const [code] = (await once(child, "close")) as [number | null];
  signal.removeEventListener("abort", end);
  if (code !== 0) {
    rmSync(draft, { recursive: true, force: true });
    signal.throwIfAborted();
    if (isDiskFull(words)) throw diskFull(place.data);
    throw new StartFailure(`PostgreSQL could not make its data. ${lastWords(words)}`);
  }
  renameSync(join(draft, "data"), place.data);
  rmSync(draft, { recursive: true, force: true });
}

function checkVersion(data: string): void {
  const version = readFileSync(join(data, "PG_VERSION"), "utf8").trim();
  if (version === MAJOR) return;
  throw new StartFailure(
    `The data in ${data} are of PostgreSQL ${version}, and this is ${MAJOR}. Choose another place with --data DIR, or forget them with --reset.`,
  );
}

async function makeDatabases(
  url: string,
  part: Part,
  options: { home: Home; signal: AbortSignal },
): Promise<void> {
  let last: unknown;
  for (let poll = 0; poll < READY_POLLS_MAX; poll += 1) {
    options.signal.throwIfAborted();
    if (part.hasEnded) {
      if (isDiskFull(part.tail)) throw diskFull(options.home.directory);
      throw new StartFailure(`PostgreSQL did not start. ${lastWords(part.tail)}`);
    }
    const sql = postgres(url, { max: 1, connect_timeout: 5, onnotice: () => {} });
    try {
      const there = await sql<{ name: string }[]>`select datname as name from pg_database`;
      for (const name of DATABASES) {
        if (!there.some((row) => row.name === name)) await sql`create database ${sql(name)}`;
      }
      return;
    } catch (error) {
      last = error;
      if (isDiskFull(error)) throw diskFull(options.home.directory);
      const code = (error as { code?: unknown }).code;
      // 57P03: still starting. 28P01: not the password that these data were made with.
      if (code === "28P01") throw foreignData();
      if (code !== "57P03" && code !== "ECONNREFUSED") throw error;
    } finally {
      await sql.end({ timeout: 1 });
    }
    await sleep(READY_POLL_MS);
  }
  throw new StartFailure(`PostgreSQL did not answer in time: ${String(last)}`);
}

function foreignData(): StartFailure {
  return new StartFailure(
    "The database was made with another password than the one in secrets.json. Put that file back, or forget the data with --reset.",
  );
}

function environment(): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LANG: "C", LC_ALL: "C", TZ: "UTC" };
}

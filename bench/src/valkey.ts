/** A Valkey or Redis server of this run's own, on 127.0.0.1, that keeps nothing. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

import { freePort } from "./http.ts";
import type { Bench } from "./row.ts";

/** The first that is on PATH. */
const COMMANDS = ["valkey-server", "redis-server"];
const START_TIMEOUT_MS = 10_000;
const LOOK_EVERY_MS = 3;

export interface ValkeyServer {
  readonly port: number;
  readonly url: string;
  /** `redis-server v=7.0.15`, for the notes. */
  readonly version: string;
  /** Of the process that runs now. */
  readonly pid: () => number;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again, empty, on the same port; resolves when it answers. */
  startAgain(): Promise<void>;
}

/** @throws Error when neither program is there, or it does not answer. */
export async function startValkey(bench: Bench): Promise<ValkeyServer> {
  const { command, version } = findProgram();
  const port = await freePort();
  const start = async () => {
    const child = bench.processes.spawn("Valkey", { command, args: argumentsOf(port, bench) });
    await untilItAnswers(port);
    return child;
  };
  let running = await start();
  return {
    port,
    version,
    url: `redis://127.0.0.1:${port}`,
    pid: () => running.pid,
    kill: async () => {
      const gone = once(running.process, "exit");
      running.process.kill("SIGKILL");
      await gone;
      await running.stop();
    },
    startAgain: async () => {
      running = await start();
    },
  };
}

function findProgram(): { command: string; version: string } {
  for (const command of COMMANDS) {
    const { status, stdout } = spawnSync(command, ["--version"], { encoding: "utf8" });
    const version = /v=\S+/.exec(stdout ?? "")?.[0];
    if (status === 0) return { command, version: `${command} ${version ?? ""}`.trim() };
  }
  throw new Error(`none of ${COMMANDS.join(", ")} is on PATH`);
}

function argumentsOf(port: number, bench: Bench): string[] {
  const settings = {
    bind: "127.0.0.1",
    port: String(port),
    dir: bench.scratch,
    save: "",
    appendonly: "no",
    "maxmemory-policy": "noeviction",
  };
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
}

async function untilItAnswers(port: number): Promise<void> {
  const end = performance.now() + START_TIMEOUT_MS;
  while (!(await answers(port))) {
    if (performance.now() > end) throw new Error("Valkey does not answer");
    await wait(LOOK_EVERY_MS);
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    const settle = (yes: boolean): void => {
      socket.destroy();
      resolve(yes);
    };
    socket.once("error", () => settle(false));
    socket.once("close", () => settle(false));
    socket.once("connect", () => socket.write("PING\r\n"));
    socket.once("data", (data) => settle(data.toString("latin1").startsWith("+PONG")));
  });
}

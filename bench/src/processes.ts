/** Every process that a run starts, so that none outlives it. */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import type { ToWatchdog } from "./watchdog.ts";

const STOP_TIMEOUT_MS = 8_000;
const LOG_CHARS_MAX = 4_000;

export interface Child {
  readonly name: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** A Node process of ours that answers each message with one. */
export interface AnsweringChild extends Child {
  ask(message: object): Promise<unknown>;
}

interface Tracked {
  readonly name: string;
  readonly process: ChildProcess;
  log: string;
  stopping: boolean;
}

export class Processes {
  readonly #all = new Set<Tracked>();
  #last: (() => Promise<void>)[] = [];
  #watchdog: ChildProcess | undefined;

  constructor() {
    process.once("exit", () => this.#kill());
  }

  /** Ends with this process, even when this process is killed. Safe to call for one that has ended. */
  leash(pid: number, ended: Promise<unknown>): void {
    this.#watchdog ??= fork(join(import.meta.dirname, "watchdog.ts"), {
      env: ENVIRONMENT,
      stdio: "ignore",
      detached: true,
    });
    const tell = (order: ToWatchdog): void => {
      if (this.#watchdog?.connected === true) this.#watchdog.send(order);
    };
    tell({ watch: pid });
    void ended.then(() => tell({ forget: pid }));
    this.#watchdog.unref();
    this.#watchdog.channel?.unref();
  }

  /** Runs `script` with this Node; it may answer `ask`. */
  node(
    name: string,
    script: string,
    options: { args?: readonly string[]; env?: Readonly<Record<string, string>> } = {},
  ): AnsweringChild {
    const child = fork(script, options.args ?? [], {
      env: { ...ENVIRONMENT, ...options.env },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      detached: true,
    });
    const tracked = this.#track(name, child);
    return { ...this.#handle(tracked), ask: (message) => ask(tracked, message) };
  }

  /** Runs any program; the process is the caller's to listen to. */
  spawn(
    name: string,
    options: {
      command: string;
      args: readonly string[];
      env?: Readonly<Record<string, string>>;
      cwd?: string;
      stdio?: ("ignore" | "pipe")[];
    },
  ): Child & { readonly process: ChildProcess } {
    const child = spawn(options.command, options.args, {
      env: { ...ENVIRONMENT, ...options.env },
      stdio: options.stdio ?? ["ignore", "pipe", "pipe"],
      detached: true,
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    });
    if (child.pid !== undefined) this.leash(child.pid, once(child, "exit"));
    return { ...this.#handle(this.#track(name, child)), process: child };
  }

  /** What a child that ended by itself said last: the reason behind a refused connection. */
  obituaries(): readonly string[] {
    return [...this.#all]
      .filter(({ process, stopping }) => ended(process) && !stopping)
      .map(
        ({ name, process, log }) =>
          `${name} ended (${process.exitCode ?? process.signalCode})${
            log === "" ? "" : `:\n${log.trimEnd()}`
          }`,
      );
  }

  /** Something else to stop, after the processes that use it. */
  finally(stop: () => Promise<void>): void {
    this.#last.push(stop);
  }

  /** Ends every process of this run, and waits until they are gone. */
  async stopAll(): Promise<void> {
    await Promise.all([...this.#all].map((tracked) => stop(tracked)));
    this.#all.clear();
    const last = this.#last;
    this.#last = [];
    for (const stop of last.toReversed()) await stop();
  }

  #track(name: string, child: ChildProcess): Tracked {
    const tracked: Tracked = { name, process: child, log: "", stopping: false };
    this.#all.add(tracked);
    const keep = (text: string): void => {
      tracked.log = (tracked.log + text).slice(-LOG_CHARS_MAX);
    };
    child.stdout?.setEncoding("utf8").on("data", keep);
    child.stderr?.setEncoding("utf8").on("data", keep);
    child.on("error", (error) => keep(error.message));
    return tracked;
  }

  #handle(tracked: Tracked): Child {
    return {
      name: tracked.name,
      pid: tracked.process.pid ?? 0,
      stop: async () => {
        await stop(tracked);
        this.#all.delete(tracked);
      },
    };
  }

  /** The last resort, when this process ends without having stopped them. */
  #kill(): void {
    for (const { process } of this.#all) if (!ended(process)) process.kill("SIGKILL");
  }
}

/** No variable of the caller's shell reaches a measured process. */
const ENVIRONMENT = { PATH: process.env["PATH"] ?? "", LANG: "C.UTF-8", TZ: "UTC" };

function ended(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

async function stop(tracked: Tracked): Promise<void> {
  tracked.stopping = true;
  const child = tracked.process;
  if (ended(child)) return;
  const gone = once(child, "exit");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  child.kill("SIGTERM");
  await gone;
  clearTimeout(timer);
}

function ask({ name, process: child }: Tracked, message: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      child.off("message", onMessage).off("exit", onExit);
      act();
    };
    const onMessage = (answer: unknown): void => settle(() => resolve(answer));
    const onExit = (): void => settle(() => reject(new Error(`${name} ended`)));
    if (ended(child)) {
      reject(new Error(`${name} ended`));
      return;
    }
    child.on("message", onMessage).on("exit", onExit);
    child.send(message);
  });
}

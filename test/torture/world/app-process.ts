/** One of our apps in a process of its own, kept running as an orchestrator does. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

import { ROOT } from "../../e2e/start-system.ts";

const START_AGAIN_MS = 300;
/** Longer than the app itself gives its end. */
const STOP_MS_MAX = 25_000;
const TAIL_LINES = 20;
const PASSED_ON = ["PATH", "HOME", "TMPDIR", "LANG"] as const;
/** Errors in a log that no outage explains. */
const OUR_FAULTS = new Set(["request-failed", "tick-failed", "unhandled-rejection"]);

export interface AppOptions {
  /** "mint 1" */
  readonly name: string;
  readonly app: "mint" | "purchase";
  readonly environment: Readonly<Record<string, string>>;
  readonly onListening: (port: number) => void;
  /** Its log is kept here, all starts in one file. */
  readonly logFile?: string | undefined;
  /** What no fault of ours explains: it ended by itself, or did not end when it was asked to. */
  readonly onTrouble: (trouble: string) => void;
}

export class AppProcess {
  readonly name: string;
  /** `http://127.0.0.1:port`, of its latest start. */
  url: string | undefined;
  /** Starts that failed before it listened: its database was away. */
  failedStarts = 0;
  /** Lines of its log by message that say `error`. */
  readonly errors = new Map<string, number>();
  readonly #options: AppOptions;
  #child: ChildProcess | undefined;
  #isWanted = false;
  #running: Promise<void> = Promise.resolve();
  #tail: string[] = [];

  constructor(options: AppOptions) {
    this.name = options.name;
    this.#options = options;
    process.once("exit", () => this.#child?.kill("SIGKILL"));
  }

  /** Runs it from now on, and again whenever it ends. */
  up(): void {
    if (this.#isWanted) return;
    this.#isWanted = true;
    this.#running = this.#running.then(() => this.#keepUp());
  }

  /** Ends it and keeps it down. */
  async down(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    this.#isWanted = false;
    this.#child?.kill(signal);
    const late = setTimeout(() => {
      this.#options.onTrouble(`${this.name} did not end within ${STOP_MS_MAX} ms`);
      this.#child?.kill("SIGKILL");
    }, STOP_MS_MAX);
    await this.#running;
    clearTimeout(late);
  }

  /** SIGSTOP: it stands still, and knows nothing of it. */
  pause(): void {
    this.#child?.kill("SIGSTOP");
  }

  resume(): void {
    this.#child?.kill("SIGCONT");
  }

  async #keepUp(): Promise<void> {
    while (this.#isWanted) {
      const listened = await this.#runOnce();
      if (!this.#isWanted) return;
      if (listened) {
        this.#options.onTrouble(`${this.name} ended by itself:\n${this.#tail.join("\n")}`);
      } else this.failedStarts += 1;
      await sleep(START_AGAIN_MS);
    }
  }

  /** Whether it listened before it ended. */
  async #runOnce(): Promise<boolean> {
    const { app, environment } = this.#options;
    const child = spawn(process.execPath, [join(ROOT, "apps", app, "src", "main.ts")], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...Object.fromEntries(PASSED_ON.map((name) => [name, process.env[name]])),
        VESTIBULE_PORT: "0",
        ...environment,
      },
    });
    this.#child = child;
    let listened = false;
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        const port = this.#read(line);
        if (port === undefined) return;
        listened = true;
        this.url = `http://127.0.0.1:${port}`;
        this.#options.onListening(port);
      });
    }
    await once(child, "close");
    return listened;
  }

  /** The port, when this line says that it listens. */
  #read(line: string): number | undefined {
    const { logFile } = this.#options;
    if (logFile !== undefined) appendFileSync(logFile, `${line}\n`);
    this.#tail = [...this.#tail, line].slice(-TAIL_LINES);
    if (!line.startsWith("{")) return undefined;
    const { level, msg, url } = JSON.parse(line) as { level: string; msg: string; url?: string };
    if (level === "error") {
      this.errors.set(msg, (this.errors.get(msg) ?? 0) + 1);
      if (OUR_FAULTS.has(msg)) this.#options.onTrouble(`${this.name} logs ${line}`);
    }
    return msg === "listening" && url !== undefined ? Number(new URL(url).port) : undefined;
  }
}

/** Starts the parts as child processes, keeps their words, and stops them in reverse order. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, statSync, type WriteStream } from "node:fs";
import { join } from "node:path";

import { StartFailure, codeOf, diskFull, isDiskFull } from "./failure.ts";
import { Guard } from "./guard.ts";
import { identityOf } from "./process-identity.ts";
import type { RunLock } from "./run-lock.ts";

const LOG_BYTES_MAX = 32 * 1024 * 1024;
/** Holds a log line with its stack whole. */
const TAIL_CHARS_MAX = 16_000;
const WORDS_CHARS_MAX = 300;
const MISTAKES_MAX = 10;

export interface PartCommand {
  /** How people call it: "mint". */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
  readonly stopSignal: NodeJS.Signals;
  readonly stopTimeoutMs: number;
  /** Written to its standard input, which is closed then: secrets that must not stand in `args`. */
  readonly input?: string;
  /** Called when it ends without being told to. Without it, such an end is the end of the sale. */
  readonly onEnd?: (part: Part) => void;
}

/** One child process. */
export class Part {
  readonly name: string;
  readonly pid: number;
  readonly #process: ChildProcess;
  readonly #command: PartCommand;
  readonly #log: WriteStream;
  readonly ended: Promise<void>;
  /** The last words on its output: they usually say why it ended. */
  tail = "";
  hasEnded = false;
  /** Its exit code, or the signal that ended it. */
  end = "";
  #logged: number;

  constructor(
    command: PartCommand,
    {
      child,
      pid,
      log,
      logged,
    }: { child: ChildProcess; pid: number; log: WriteStream; logged: number },
  ) {
    this.name = command.name;
    this.pid = pid;
    this.#process = child;
    this.#command = command;
    this.#log = log;
    this.#logged = logged;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => this.#keep(text));
    }
    this.ended = once(child, "close").then(([code, signal]: (number | string | null)[]) => {
      this.end = signal === null ? `exit code ${code}` : String(signal);
      this.hasEnded = true;
      // What it started itself must not outlive it.
      signalGroup(pid, "SIGKILL");
      log.end();
    });
  }

  async stop(): Promise<void> {
    if (this.hasEnded) return;
    const timer = setTimeout(() => this.kill(), this.#command.stopTimeoutMs);
    this.#process.kill(this.#command.stopSignal);
    await this.ended;
    clearTimeout(timer);
  }

  kill(): void {
    if (!this.hasEnded) signalGroup(this.pid, "SIGKILL");
  }

  #keep(text: string): void {
    this.tail = (this.tail + text).slice(-TAIL_CHARS_MAX);
    if (this.#logged > LOG_BYTES_MAX) return;
    this.#logged += text.length;
    this.#log.write(this.#logged > LOG_BYTES_MAX ? `${text}\n(the log ends here: full)\n` : text);
  }
}

export class Supervisor {
  readonly #logs: string;
  readonly #lock: RunLock;
  readonly #guard = new Guard();
  readonly #parts = new Set<Part>();
  readonly #started = new Set<string>();
  #stopping: Promise<void> | undefined;
  /** Rejects when a part that the sale needs ends without being told to; never resolves. */
  readonly failed: Promise<never>;
  readonly #fail: (error: Error) => void;

  constructor(options: { logs: string; lock: RunLock }) {
    this.#logs = options.logs;
    this.#lock = options.lock;
    const { promise, reject } = Promise.withResolvers<never>();
    this.failed = promise;
    this.#fail = reject;
    promise.catch(() => {}); // whoever waits hears of it; nobody needs to
  }

  /** @throws StartFailure when the program is not there. */
  async start(command: PartCommand): Promise<Part> {
    if (this.#stopping !== undefined) throw new StartFailure("It is being stopped.");
    const child = spawn(command.command, command.args, {
      cwd: command.cwd,
      env: command.env,
      ...(command.uid === undefined ? {} : { uid: command.uid }),
      ...(command.gid === undefined ? {} : { gid: command.gid }),
      stdio: [command.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
      // A group of its own: Ctrl-C reaches us alone, and we stop the parts in their order.
      detached: true,
    });
    const { pid } = child;
    if (pid === undefined) {
      const [error] = (await once(child, "error")) as [Error];
      throw missing(command.command, error);
    }
    // Who ends before it has read everything is heard of as an end, not as a broken pipe.
    child.stdin?.on("error", () => {});
    child.stdin?.end(command.input);
    // What a part said before it ended is wanted most when it is started again.
    const logFile = join(this.#logs, `${command.name}.log`);
    const again = this.#started.has(command.name);
    const logged = again ? (statSync(logFile, { throwIfNoEntry: false })?.size ?? 0) : 0;
    const log = createWriteStream(logFile, { mode: 0o600, flags: again ? "a" : "w" });
    this.#started.add(command.name);
    log.on("error", (error) => {
      if (isDiskFull(error)) this.#fail(diskFull(this.#logs));
    });
    this.#guard.add(pid, command.stopSignal);
    const part = new Part(command, { child, pid, log, logged });
    this.#parts.add(part);
    this.#lock.add({
      name: command.name,
      stopSignal: command.stopSignal,
      ...(identityOf(pid) ?? { pid, began: "" }),
    });
    void part.ended.then(() => this.#onEnd(part, command.onEnd));
    return part;
  }

  /** A file that says that everything runs: it is removed also when we are killed. */
  noteReadyFile(path: string): void {
    this.#lock.noteReadyFile(path);
    this.#guard.addFile(path);
  }

  /** Stops everything, the last started first; the same promise for whoever calls again. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  /** No more patience: ends everything at once. */
  kill(): void {
    for (const part of this.#parts) part.kill();
  }

  async #stopAll(): Promise<void> {
    for (const part of [...this.#parts].toReversed()) await part.stop();
    this.#guard.end();
  }

  #onEnd(part: Part, onEnd: ((part: Part) => void) | undefined): void {
    this.#parts.delete(part);
    this.#guard.remove(part.pid);
    this.#lock.remove(part.pid);
    if (this.#stopping !== undefined) return;
    if (onEnd !== undefined) return onEnd(part);
    this.#fail(explainEnd(part, join(this.#logs, `${part.name}.log`)));
  }
}

/** What an output says last about an error, for a message: no stack, no version of the runtime. */
export function lastWords(tail: string): string {
  const lines = tail
    .split("\n")
    .map((line) => messageOf(line.trim()))
    .filter((line) => line !== "" && !/^(at |Node\.js v|[{}[\]^~]*$)/.test(line));
  const errors = lines.filter((line) => /\b(error|fatal|panic)\b/i.test(line));
  // A list that says all mistakes of a configuration, one a line, is wanted from its beginning.
  const list = lines.findLastIndex((line) => /\bmistakes:$/.test(line));
  const wanted = list >= 0 ? lines.slice(list + 1, list + 1 + MISTAKES_MAX) : undefined;
  const last = (wanted ?? (errors.length > 0 ? errors : lines).slice(-3)).join("\n  ");
  return last === "" ? "" : `Its last words:\n  ${last}\n`;
}

/** Our parts log JSON, with a stack that is for the log; its message is for people. */
function messageOf(line: string): string {
  if (!line.startsWith("{")) return line;
  try {
    const { msg, error } = JSON.parse(line) as { msg?: string; error?: { message?: string } };
    return error?.message === undefined ? "" : `error: ${msg}: ${error.message}`;
  } catch {
    return line.slice(0, WORDS_CHARS_MAX);
  }
}

/** Why a part ended on its own, in a line with what to do. */
export function explainEnd(
  { name, tail, end }: Pick<Part, "name" | "tail" | "end">,
  logFile: string,
): StartFailure {
  if (isDiskFull(tail)) {
    return new StartFailure(`The disk is full: ${name} ended. Free some space and start again.`);
  }
  if (tail.includes("EADDRINUSE")) {
    return new StartFailure(
      `${name} found its port taken. Start again, or choose other ports with --port-base P.`,
    );
  }
  if (/migration \d+ .*was changed/.test(tail)) {
    return new StartFailure(
      "The data were written by another version of these sources. Forget them with --reset, or choose another place with --data DIR.",
    );
  }
  return new StartFailure(
    `${name} ended unexpectedly (${end}). ${lastWords(tail)}All it said is in ${logFile}`,
  );
}

export function missing(program: string, cause: unknown): StartFailure {
  const why = codeOf(cause) === "EACCES" ? "may not be run" : "is not installed";
  return new StartFailure(
    `${program} ${why}. Run "npx -y pnpm@12 install --force", and let the install scripts of the packages listed under allowBuilds run.`,
    { cause },
  );
}

function signalGroup(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(-pid, name);
  } catch (error) {
    if (codeOf(error) !== "ESRCH" && codeOf(error) !== "EPERM") throw error;
  }
}

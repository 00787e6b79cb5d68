/**
 * One start at a time per data directory. The lock names the launcher and the processes that it
 * started; what a killed launcher left behind is recognized by it, and ended.
 */
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { StartFailure, codeOf, explainFileError } from "./failure.ts";
import { type ProcessIdentity, identityOf, isAlive } from "./process-identity.ts";

const ATTEMPTS_MAX = 20;
const END_POLLS_MAX = 100;
const END_POLL_MS = 100;

interface LockFile {
  readonly launcher: ProcessIdentity;
  readonly children: readonly ChildRecord[];
  readonly readyFile?: string | undefined;
}

export interface ChildRecord extends ProcessIdentity {
  readonly name: string;
  readonly stopSignal: NodeJS.Signals;
}

export class RunLock {
  readonly #path: string;
  readonly #launcher: ProcessIdentity;
  readonly #children: ChildRecord[] = [];
  #readyFile: string | undefined;

  private constructor(path: string, launcher: ProcessIdentity) {
    this.#path = path;
    this.#launcher = launcher;
  }

  /**
   * @throws StartFailure when a living launcher holds it.
   * @returns the lock, and what a dead one left running or lying around.
   */
  static async take(
    path: string,
    directory: string,
  ): Promise<{ lock: RunLock; leftOver: LockFile | undefined }> {
    const launcher = identityOf(process.pid) ?? { pid: process.pid, began: "" };
    const lock = new RunLock(path, launcher);
    const draft = `${path}.${process.pid}.draft`;
    let leftOver: LockFile | undefined;
    try {
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
        writeFileSync(draft, lock.#text(), { mode: 0o600 });
        if (linkWhole(draft, path)) return { lock, leftOver };
        const text = readText(path);
        const held = parse(text);
        if (held !== undefined && isAlive(held.launcher)) throw inUse(directory, held.launcher.pid);
        if (removeExactly(path, text)) leftOver ??= held;
        else await sleep(END_POLL_MS);
      }
    } catch (error) {
      throw explainFileError(error, directory);
    } finally {
      rmSync(draft, { force: true });
    }
    throw new StartFailure(
      `${path} could not be taken. Remove it when nothing runs, and start again.`,
    );
  }

  add(child: ChildRecord): void {
    this.#children.push(child);
    this.#write();
  }

  remove(pid: number): void {
    const index = this.#children.findIndex((child) => child.pid === pid);
    if (index >= 0) this.#children.splice(index, 1);
    this.#write();
  }

  /** Remembered, so that a start after a crash removes the file. */
  noteReadyFile(path: string): void {
    this.#readyFile = path;
    this.#write();
  }

  release(): void {
    rmSync(this.#path, { force: true });
  }

  #text(): string {
    const file: LockFile = {
      launcher: this.#launcher,
      children: this.#children,
      readyFile: this.#readyFile,
    };
    return `${JSON.stringify(file)}\n`;
  }

  /** A full disk must not keep a stop from going on: the record is then older than it could be. */
  #write(): void {
    const draft = `${this.#path}.${process.pid}.draft`;
    try {
      writeFileSync(draft, this.#text(), { mode: 0o600 });
      renameSync(draft, this.#path);
    } catch {
      rmSync(draft, { force: true });
    }
  }
}

/** Ends, last started first, what a dead launcher left running. Only processes that are surely the recorded ones. */
export async function endLeftOvers(leftOver: LockFile): Promise<readonly string[]> {
  const ended: string[] = [];
  for (const child of leftOver.children.toReversed()) {
    if (!isAlive(child)) continue;
    ended.push(child.name);
    await endProcess(child, child.stopSignal);
  }
  if (leftOver.readyFile !== undefined) rmSync(leftOver.readyFile, { force: true });
  return ended;
}

/** Asks a process to stop, and ends it with its group when it does not within 10 s. */
export async function endProcess(
  identity: ProcessIdentity,
  stopSignal: NodeJS.Signals,
): Promise<void> {
  signal(identity.pid, stopSignal);
  for (let poll = 0; poll < END_POLLS_MAX && isAlive(identity); poll += 1) await sleep(END_POLL_MS);
  if (isAlive(identity)) signal(identity.pid, "SIGKILL");
  signal(-identity.pid, "SIGKILL"); // what it started itself, such as workerd
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (codeOf(error) !== "ESRCH") throw error;
  }
}

/** The name appears with its whole content or not at all; false when it is there already. */
function linkWhole(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(codeOf(error))) throw error;
  }
  try {
    // A file system without hard links.
    writeFileSync(path, readFileSync(draft), { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** Removes the file only when it still says `text`: another start may have taken it in between. */
function removeExactly(path: string, text: string | undefined): boolean {
  const aside = `${path}.${process.pid}.stale`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return true;
    throw error;
  }
  const same = readText(aside) === text;
  if (!same) linkWhole(aside, path);
  rmSync(aside, { force: true });
  return same;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function parse(text: string | undefined): LockFile | undefined {
  try {
    const file = JSON.parse(text ?? "") as LockFile;
    return typeof file.launcher?.pid === "number" && Array.isArray(file.children)
      ? file
      : undefined;
  } catch {
    return undefined;
  }
}

function inUse(directory: string, pid: number): StartFailure {
  return new StartFailure(
    `A start with these data runs already (process ${pid}, ${directory}). Stop it with Ctrl-C there, or run a second sale with --data OTHER_DIR --port-base P.`,
  );
}

/**
 * Which process exactly: a number alone may belong to another program after a crash or a reboot,
 * so that it is kept together with when the process began.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

export interface ProcessIdentity {
  readonly pid: number;
  /** Whatever tells this process from a later one of the same number. */
  readonly began: string;
}

/** The identity of a living process; undefined when there is none (a zombie is none). */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const began = process.platform === "linux" ? beganOnLinux(pid) : beganByPs(pid);
  return began === undefined ? undefined : { pid, began };
}

export function isAlive(identity: ProcessIdentity): boolean {
  return identityOf(identity.pid)?.began === identity.began;
}

/** The number of the parent; undefined when there is no such process. */
export function parentOf(pid: number): number | undefined {
  const text =
    process.platform === "linux"
      ? statFields(pid)?.[1]
      : spawnSync("ps", ["-o", "ppid=", "-p", String(pid)], { encoding: "utf8" }).stdout?.trim();
  return text === undefined || !/^\d+$/.test(text) ? undefined : Number(text);
}

/** The command line of a process, where the system tells. */
export function commandLineOf(pid: number): string {
  if (process.platform === "linux") {
    return read(`/proc/${pid}/cmdline`)?.replaceAll("\0", " ") ?? "";
  }
  return spawnSync("ps", ["-o", "command=", "-p", String(pid)], { encoding: "utf8" }).stdout ?? "";
}

function beganOnLinux(pid: number): string | undefined {
  const fields = statFields(pid);
  const [state, startTime] = [fields?.[0], fields?.[19]];
  if (state === undefined || startTime === undefined || state === "Z" || state === "X") return;
  return `${read("/proc/sys/kernel/random/boot_id")?.trim() ?? ""}/${startTime}`;
}

/** The fields of proc(5) from the third on: state is 3, ppid 4, starttime 22. The name before may hold anything. */
function statFields(pid: number): readonly string[] | undefined {
  const stat = read(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function beganByPs(pid: number): string | undefined {
  const { stdout } = spawnSync("ps", ["-o", "lstart=,state=", "-p", String(pid)], {
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C" },
  });
  const line = stdout?.trim();
  return line === undefined || line === "" || line.endsWith("Z")
    ? undefined
    : line.replace(/\s+\S+$/, "");
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** Who was busy while something was measured: the place to look when a figure is low. */
import { readdirSync, readFileSync } from "node:fs";

import { cpuMs } from "../process-figures.ts";

export interface CpuWatch {
  /** Runs `work` and adds what each process spent meanwhile. */
  during<Value>(work: () => Promise<Value>): Promise<Value>;
  /** `purchase API 97 % of a core, PostgreSQL 41 %`; empty where there is no /proc. */
  text(): string;
}

/** @param pids by what they are called; a process stands for its children too. */
export function cpuWatch(pids: Readonly<Record<string, readonly number[]>>): CpuWatch {
  const spentMs = new Map<string, number>();
  let elapsedMs = 0;
  const read = (): ReadonlyMap<string, number> =>
    new Map(
      Object.entries(pids).map(([name, of]) => [
        name,
        of.reduce((sum, pid) => sum + family(pid), 0),
      ]),
    );
  return {
    during: async (work) => {
      const before = read();
      const startedAt = performance.now();
      const value = await work();
      elapsedMs += performance.now() - startedAt;
      for (const [name, after] of read()) {
        const spent = after - (before.get(name) ?? 0);
        spentMs.set(name, (spentMs.get(name) ?? 0) + spent);
      }
      return value;
    },
    text: () =>
      [...spentMs]
        .filter(([, spent]) => spent > 0)
        .map(([name, spent]) => `${name} ${((spent / elapsedMs) * 100).toFixed(0)} %`)
        .join(", "),
  };
}

/** Milliseconds of a process and its children that run now. A server has one for each connection. */
function family(pid: number): number {
  // Everything else of a run is a child of this process.
  if (pid === process.pid) return cpuMs(pid) ?? 0;
  return [pid, ...childrenOf(pid)].reduce((sum, each) => sum + (cpuMs(each) ?? 0), 0);
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1")
        .split(" ")
        .map(Number)
        .filter((child) => child > 0),
    );
  } catch {
    return [];
  }
}

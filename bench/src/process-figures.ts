/** What the kernel says about a process. Linux only; elsewhere the figures are absent. */
import { readdirSync, readFileSync } from "node:fs";

/**
 * CPU time of all threads so far, in milliseconds; nothing where there is no /proc. From `schedstat`
 * (nanoseconds), since the ticks of `stat` are 10 ms and a round is a few hundred.
 */
export function cpuMs(pid: number): number | undefined {
  try {
    let totalNs = 0;
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const [ranNs] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "latin1").split(" ");
      totalNs += Number(ranNs);
    }
    return totalNs / 1e6;
  } catch {
    return undefined;
  }
}

/**
 * Resident memory in bytes.
 *
 * @throws Error where there is no /proc.
 */
export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  if (kilobytes === undefined) throw new Error(`no VmRSS for process ${pid}`);
  return Number(kilobytes) * 1_024;
}

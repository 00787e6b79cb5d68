/** What the two limiter rows have in common. */
import { join } from "node:path";

import { compare } from "../compare.ts";
import { cpuMs } from "../process-figures.ts";
import type { Bench, Measured } from "../row.ts";
import { startValkey } from "../valkey.ts";
import type { FromLimiterSides, ToLimiterSides } from "./limiter-sides.ts";

export async function compareLimiters(
  bench: Bench,
  floor: Extract<ToLimiterSides, { type: "start" }>["floor"],
): Promise<Measured> {
  const valkey = await startValkey(bench);
  const child = bench.processes.node("limiters", join(import.meta.dirname, "limiter-sides.ts"), {
    env: { NODE_ENV: "production" },
  });
  const tell = async (order: ToLimiterSides): Promise<FromLimiterSides> => {
    const answer = (await child.ask(order)) as FromLimiterSides;
    if (answer.type === "failed") throw new Error(answer.message);
    return answer;
  };
  await tell({ type: "start", url: valkey.url, floor });

  const serverBusy: Record<string, number[]> = { candidate: [], floor: [] };
  const measured = await compare(bench, {
    generator: {
      fire: async (side, count) => {
        const before = cpuMs(valkey.pid());
        const answer = await tell({ type: "fire", side: side as "candidate" | "floor", count });
        const after = cpuMs(valkey.pid());
        if (answer.type !== "fired") throw new Error("no answer");
        if (before !== undefined && after !== undefined) {
          serverBusy[side]?.push((after - before) / answer.elapsedMs);
        }
        return answer;
      },
    },
    pids: { candidate: child.pid, floor: child.pid },
    warmUp: bench.quick ? 20_000 : 150_000,
  });
  const through = await tell({ type: "exhaust" });
  if (through.type !== "exhausted") throw new Error("no answer");
  const [ours, theirs] = [through.candidate, through.floor];
  if (ours !== 10 || (floor === "peer" && theirs !== 10)) {
    throw new Error(`a bucket of 10 let ${ours} through, the peer's ${theirs}`);
  }
  return {
    ...measured,
    notes: [
      ...measured.notes,
      `CPU is the caller's, in which both sides run; ${valkey.version} itself used ${percent(serverBusy["candidate"])} of a core, ${percent(serverBusy["floor"])} under the floor`,
    ],
  };
}

function percent(shares: readonly number[] = []): string {
  const mean = shares.reduce((sum, share) => sum + share, 0) / Math.max(1, shares.length);
  return `${(mean * 100).toFixed(0)} %`;
}

/** Candidate and floor in one child process, each on a database of its own of one durable PostgreSQL. */
import { compare } from "../compare.ts";
import { cpuWatch } from "../purchase/cpu-watch.ts";
import { type LocalDatabases, startDatabases } from "../purchase/purchase-world.ts";
import type { Bench, Measured } from "../row.ts";
import type { FromSides, Side, ToSides } from "./serve-sides.ts";

export interface MeasuredSides {
  readonly measured: Measured;
  /** What both used, in words. */
  readonly cpu: string;
  readonly databases: LocalDatabases;
  readonly urls: Readonly<Record<Side, string>>;
  /** Deeds that were answered, warm-up included. */
  readonly fired: Readonly<Record<Side, number>>;
}

/** @param of.script runs `serveSides` */
export async function measureSides(
  bench: Bench,
  of: { readonly name: string; readonly script: string; readonly warmUp: number },
): Promise<MeasuredSides> {
  const databases = await startDatabases(bench);
  const child = bench.processes.node(of.name, of.script);
  const tell = async (order: ToSides): Promise<FromSides> => {
    const answer = (await child.ask(order)) as FromSides;
    if (answer.type === "failed") throw new Error(answer.message);
    return answer;
  };
  const urls = {
    candidate: await databases.create("candidate"),
    floor: await databases.create("floor"),
  };
  await tell({ type: "start", urls });
  const watch = () => cpuWatch({ caller: [child.pid], PostgreSQL: [databases.pid] });
  const watches = { candidate: watch(), floor: watch() };
  const fired = { candidate: 0, floor: 0 };
  const { notes, ...measured } = await compare(bench, {
    generator: {
      fire: async (name, count) => {
        const side = name as Side;
        const answer = await watches[side].during(() => tell({ type: "fire", side, count }));
        if (answer.type !== "fired") throw new Error("no answer");
        fired[side] += count;
        return answer;
      },
    },
    pids: { candidate: child.pid, floor: child.pid },
    warmUp: of.warmUp,
  });
  await child.stop();
  return {
    // PostgreSQL's disk is what both sides wait for: that the caller idles is no fault.
    measured: { ...measured, notes: notes.filter((note) => !note.includes("used")) },
    cpu: `of one core: ${watches.candidate.text()}; under the floor ${watches.floor.text()}`,
    databases,
    urls,
    fired,
  };
}

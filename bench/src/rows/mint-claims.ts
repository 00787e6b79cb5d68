import { join } from "node:path";

import { connectDatabase } from "@vestibule/db/connect";

import { compare } from "../compare.ts";
import {
  CONNECTIONS,
  type FromClaimSides,
  type ToClaimSides,
  UNDER_WAY,
} from "../mint/claim-sides.ts";
import { cpuWatch } from "../purchase/cpu-watch.ts";
import { startDatabases } from "../purchase/purchase-world.ts";
import type { Bench, Measured, Row } from "../row.ts";

export const mintClaims: Row = {
  name: "mint-claims",
  what: "a claim recorded by the mint's claim desk, many with one commit, durable PostgreSQL",
  floor: "a bare insert and a commit for each claim, same PostgreSQL, as many connections",
  unit: "claims/s",
  atLeast: 2,
  timeoutMs: 180_000,
  measure,
};

async function measure(bench: Bench): Promise<Measured> {
  const databases = await startDatabases(bench);
  const child = bench.processes.node(
    "claim desk and inserts",
    join(import.meta.dirname, "../mint/claim-sides.ts"),
  );
  const tell = async (order: ToClaimSides): Promise<FromClaimSides> => {
    const answer = (await child.ask(order)) as FromClaimSides;
    if (answer.type === "failed") throw new Error(answer.message);
    return answer;
  };
  const urls = {
    candidate: await databases.create("candidate"),
    floor: await databases.create("floor"),
  };
  await tell({ type: "start", candidateUrl: urls.candidate, floorUrl: urls.floor });
  const watches = {
    candidate: cpuWatch({ mint: [child.pid], PostgreSQL: [databases.pid] }),
    floor: cpuWatch({ caller: [child.pid], PostgreSQL: [databases.pid] }),
  };
  const fired = { candidate: 0, floor: 0 };
  const measured = await compare(bench, {
    generator: {
      fire: async (name, count) => {
        const side = name as "candidate" | "floor";
        const answer = await watches[side].during(() => tell({ type: "fire", side, count }));
        if (answer.type !== "fired") throw new Error("no answer");
        fired[side] += count;
        return answer;
      },
    },
    pids: { candidate: child.pid, floor: child.pid },
    warmUp: bench.quick ? 6_000 : 30_000,
  });
  await child.stop();
  for (const side of ["candidate", "floor"] as const) await checkRows(urls[side], fired[side]);
  return {
    ...measured,
    notes: [
      // PostgreSQL's disk is what both sides wait for: that the caller idles is no fault.
      ...measured.notes.filter((note) => !note.includes("used")),
      `${CONNECTIONS} connections and ${UNDER_WAY} claims under way on either side; every claim is one row; of one core: ${watches.candidate.text()}; under the floor ${watches.floor.text()}`,
    ],
  };
}

/** @throws Error when a claim that was answered is not on record. */
async function checkRows(url: string, expected: number): Promise<void> {
  const database = connectDatabase({ url, applicationName: "bench-check" });
  const [row] = await database.sql<{ count: number }[]>`select count(*) as count from claims`;
  await database.close();
  if (row?.count !== expected)
    throw new Error(`${expected} claims were answered, ${row?.count} are on record`);
}

import { join } from "node:path";

import { connectDatabase } from "@vestibule/db/connect";

import { CONNECTIONS, UNDER_WAY } from "../mint/claim-sides.ts";
import type { Bench, Measured, Row } from "../row.ts";
import { measureSides } from "../sides/measure-sides.ts";

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
  const { measured, cpu, urls, fired } = await measureSides(bench, {
    name: "claim desk and inserts",
    script: join(import.meta.dirname, "../mint/claim-sides.ts"),
    warmUp: bench.quick ? 6_000 : 30_000,
  });
  for (const side of ["candidate", "floor"] as const) await checkRows(urls[side], fired[side]);
  return {
    ...measured,
    notes: [
      ...measured.notes,
      `${CONNECTIONS} connections and ${UNDER_WAY} claims under way on either side; every claim is one row; ${cpu}`,
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

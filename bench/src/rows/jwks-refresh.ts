import { join } from "node:path";

import { startEdge } from "../edge-candidate.ts";
import { admittedHead } from "../edge-world.ts";
import { ORIGIN_BODY } from "../floors/origin.ts";
import { type FromFlood, keySetsMost, type ToFlood } from "../keys/flood-messages.ts";
import { Generator } from "../load/generator-handle.ts";
import { residentBytes } from "../process-figures.ts";
import type { Bench, Measured, Row } from "../row.ts";

const REQUESTS = 1_000_000;
const REQUESTS_QUICK = 200_000;
const ISOLATES = [1, 10] as const;
/** What the heap may have more after the flood than when it had begun. */
const HEAP_BYTES_MAX = 2 ** 20;

/** Over HTTP: longer than one cool-down. */
const HTTP_MS = 12_000;
const HTTP_MS_QUICK = 2_000;
const CONNECTIONS = 16;
const BATCH = 2_000;
/** Until workerd has taken the memory that it works with. */
const WARM_UP = 10_000;
const WARM_UP_QUICK = 1_000;
const GOOD_CONNECTIONS = 1;
const GOOD_BATCH = 100;
/** Seen for the first time, and then again. */
const GOOD = 1_000;

export const jwksRefresh: Row = {
  name: "jwks-refresh",
  what: "key sets that a location asks for in 1,000,000 requests, nearly all with a made-up kid, good ones among them",
  floor:
    "as many as one isolate's cool-down and schedule allow in that time; floor ÷ candidate, of the case with the least room",
  unit: "key sets",
  atLeast: 1,
  timeoutMs: 240_000,
  measure,
};

interface Case {
  readonly name: string;
  readonly keySets: number;
  readonly most: number;
  readonly misses: readonly string[];
  readonly note: string;
}

async function measure(bench: Bench): Promise<Measured> {
  const { edge, stubMint, signer } = await startEdge(bench);
  bench.progress("flooding the edge over HTTP");
  const real = await overHttp(bench, { port: edge.port, pid: edge.pid, stubMint, signer });
  bench.progress("flooding one isolate, and ten, in virtual time");
  const inVirtualTime = ISOLATES.map((isolates) => virtual(bench, isolates));
  const cases = [...(await Promise.all(inVirtualTime)), real];
  const [first] = cases;
  if (first === undefined) throw new Error("nothing was measured");
  return {
    candidate: first.keySets,
    floor: first.most,
    ratio: Math.min(...cases.map(({ most, keySets }) => most / keySets)),
    notes: cases.map(({ name, note }) => `${name}: ${note}`),
    misses: cases.flatMap(({ name, misses }) => misses.map((miss) => `${name}: ${miss}`)),
  };
}

async function virtual(bench: Bench, isolates: number): Promise<Case> {
  const child = bench.processes.node(
    `flood of ${isolates}`,
    join(import.meta.dirname, "../keys/flood.ts"),
  );
  const requests = bench.quick ? REQUESTS_QUICK : REQUESTS;
  const answer = (await child.ask({ isolates, requests } satisfies ToFlood)) as FromFlood;
  if (answer.type === "failed") throw new Error(answer.message);
  const { elapsedMs, keySets, good, admitted, junkAdmitted, heapBytes } = answer;
  const grown = heapBytes[1] - heapBytes[0];
  const most = keySetsMost(elapsedMs, isolates);
  return {
    name: `${isolates} ${isolates === 1 ? "isolate" : "isolates"} in virtual time`,
    ...{ keySets, most },
    misses: [
      ...(admitted === good ? [] : [`${good - admitted} of ${good} good admissions were refused`]),
      ...(junkAdmitted === 0 ? [] : [`${junkAdmitted} made-up ones were let in`]),
      ...(grown <= HEAP_BYTES_MAX ? [] : [`the heap grew by ${grown} bytes`]),
    ],
    note:
      `${keySets} key sets (at most ${most}) in ${seconds(elapsedMs)} of virtual time, ${requests.toLocaleString("en")} requests; ` +
      `${good.toLocaleString("en")} good admissions, all let in; the heap grew by ${Math.round(grown / 1_024)} KiB`,
  };
}

/** The real bundle in workerd, as many requests as it answers. */
async function overHttp(
  bench: Bench,
  {
    port,
    pid,
    stubMint,
    signer,
  }: Pick<Awaited<ReturnType<typeof startEdge>>, "stubMint" | "signer"> & {
    port: number;
    pid: number;
  },
): Promise<Case> {
  const admissions = await signer.admissions(GOOD);
  const [pattern] = admissions;
  if (pattern === undefined) throw new Error("nothing was signed");
  // As a script asks: a page would be most of the work.
  const head = admittedHead(pattern.visitor, "$TOKEN").replace(
    /\r\nAccept: .*/,
    "\r\nAccept: application/json",
  );
  const [junk, good] = [Generator.start(bench.processes), Generator.start(bench.processes)];
  await junk.prepare({
    ...{ side: "junk", port, connections: CONNECTIONS },
    requests: { kind: "junk-kid", head, token: pattern.token },
    answers: { status: 429, body: { kind: "problem", code: "waiting" } },
  });
  await good.prepare({
    ...{ side: "good", port, connections: GOOD_CONNECTIONS },
    requests: {
      kind: "same",
      heads: admissions.map(({ visitor, token }) => admittedHead(visitor, token)),
    },
    answers: { status: 200, body: { kind: "equals", text: ORIGIN_BODY } },
  });
  // What the first requests of a process cost is not the flood's.
  await Promise.all([
    junk.fire("junk", bench.quick ? WARM_UP_QUICK : WARM_UP),
    good.fire("good", GOOD),
  ]);
  const before = { keySets: stubMint.keySets(), memory: mebibytes(pid) };
  const startedAt = performance.now();
  const endsAt = startedAt + (bench.quick ? HTTP_MS_QUICK : HTTP_MS);
  const flood = async (by: Generator, side: string, batch: number): Promise<number> => {
    let fired = 0;
    // Every answer is looked at: one that is not due fails the row.
    for (; performance.now() < endsAt; fired += batch) await by.fire(side, batch);
    return fired;
  };
  const [junkSent, goodSent] = await Promise.all([
    flood(junk, "junk", BATCH),
    flood(good, "good", GOOD_BATCH),
  ]);
  const elapsedMs = performance.now() - startedAt;
  const keySets = stubMint.keySets() - before.keySets;
  const most = keySetsMost(elapsedMs, 1);
  return {
    name: "the edge over HTTP",
    ...{ keySets: Math.max(1, keySets), most, misses: [] },
    note:
      `${keySets} key sets (at most ${most}) in ${seconds(elapsedMs)}, ${junkSent.toLocaleString("en")} requests; ` +
      `${goodSent.toLocaleString("en")} good admissions, all let in; workerd holds ${mebibytes(pid)} MiB, and before ${before.memory}`,
  };
}

function mebibytes(pid: number): string {
  return (residentBytes(pid) / 2 ** 20).toFixed(0);
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(0)} s`;
}

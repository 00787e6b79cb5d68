import { setTimeout as wait } from "node:timers/promises";

import { Generator } from "../load/generator-handle.ts";
import { EVENT, JOIN_HEAD, startMint } from "../mint-candidate.ts";
import { residentBytes } from "../process-figures.ts";
import type { Bench, Measured, Row } from "../row.ts";
import { median } from "../statistics.ts";

const CONNECTIONS = 32;
const EARLY_JOINS = 200_000;
const LATE_JOINS = 1_000_000;
const QUICK_DIVISOR = 20;
const BATCH = 5_000;
const GROWTH_MAX = 1.05;
const SETTLE_MS = 3_000;
const SAMPLES = 9;
const SAMPLE_EVERY_MS = 300;
const MIB = 1_048_576;

export const mintMemory: Row = {
  name: "mint-memory",
  what: "resident memory of the mint after 1,000,000 joins",
  floor: "the same process after its first 200,000; the ratio is floor ÷ candidate",
  unit: "MiB",
  atLeast: Number((1 / GROWTH_MAX).toFixed(4)),
  timeoutMs: 900_000,
  measure,
};

async function measure(bench: Bench): Promise<Measured> {
  const mint = await startMint(bench);
  const generator = Generator.start(bench.processes);
  await generator.prepare({
    side: "candidate",
    port: mint.port,
    connections: CONNECTIONS,
    requests: { kind: "join", head: JOIN_HEAD },
    answers: { status: 201, body: { kind: "join", event: EVENT } },
  });
  const scale = bench.quick ? QUICK_DIVISOR : 1;
  const joinUpTo = async (done: number, total: number): Promise<void> => {
    const startedAt = performance.now();
    for (let joined = done; joined < total; joined += BATCH) {
      await generator.fire("candidate", Math.min(BATCH, total - joined));
      const perSecond = ((joined + BATCH - done) * 1_000) / (performance.now() - startedAt);
      bench.progress(
        `${(joined + BATCH).toLocaleString("en")} joins, ${perSecond.toFixed(0)} a second, ${(residentBytes(mint.pid) / MIB).toFixed(1)} MiB`,
      );
    }
  };
  await joinUpTo(0, EARLY_JOINS / scale);
  const early = await settled(mint.pid);
  await joinUpTo(EARLY_JOINS / scale, LATE_JOINS / scale);
  const late = await settled(mint.pid);
  return {
    candidate: late / MIB,
    floor: early / MIB,
    ratio: early / late,
    notes: [
      `${(((late - early) / early) * 100).toFixed(1)} % more than after the first fifth`,
      ...(bench.quick ? ["quick: a twentieth of the joins"] : []),
    ],
  };
}

/** Nothing is forced: the process is left alone for a moment, then looked at a few times. */
async function settled(pid: number): Promise<number> {
  await wait(SETTLE_MS);
  const samples: number[] = [];
  for (let index = 0; index < SAMPLES; index += 1) {
    samples.push(residentBytes(pid));
    await wait(SAMPLE_EVERY_MS);
  }
  return median(samples);
}

import { join } from "node:path";

import { compare } from "../compare.ts";
import { startMint } from "../mint-candidate.ts";
import { PremintClient } from "../mint/premint-client.ts";
import { ticketVerifier } from "../mint/ticket-verifier.ts";
import type { ToRawSignatures } from "../floors/raw-signatures.ts";
import { cpuWatch } from "../purchase/cpu-watch.ts";
import type { Bench, Measured, Row } from "../row.ts";

/** A batch is 1,000 places: a round has many of them. */
const ROUND_MS = 1_000;
const PAIRS = 20;

export const mintPremint: Row = {
  name: "mint-premint",
  what: "places given beforehand by the mint, over HTTP, recorded on PostgreSQL, each with its ticket",
  floor: "raw Ed25519 signatures through crypto.subtle on all cores, inputs of the same size",
  unit: "tickets/s",
  atLeast: 0.85,
  timeoutMs: 240_000,
  measure,
};

async function measure(bench: Bench): Promise<Measured> {
  const mint = await startMint(bench);
  const client = new PremintClient(mint);
  const [sample] = (await client.fire(1)).samples;
  const floor = bench.processes.node(
    "floor of mint-premint",
    join(import.meta.dirname, "../floors/raw-signatures.ts"),
    { env: { NODE_ENV: "production" } },
  );
  const tell = (order: ToRawSignatures) => floor.ask(order);
  await tell({ type: "start", inputChars: sample?.ticket.lastIndexOf(".") ?? 0 });

  const watch = cpuWatch({
    mint: [mint.pid],
    PostgreSQL: [mint.postgresPid],
    client: [process.pid],
  });
  const verify = await ticketVerifier(mint);
  let verified = 0;
  const measured = await compare(bench, {
    generator: {
      fire: async (side, count) => {
        if (side === "candidate") return watch.during(() => client.fire(count));
        return (await tell({ type: "fire", count })) as { elapsedMs: number; samples: [] };
      },
    },
    pids: { candidate: mint.pid, floor: floor.pid },
    warmUp: bench.quick ? 12_000 : 60_000,
    roundMs: ROUND_MS,
    pairs: PAIRS,
    inspect: async (_side, samples) => {
      for (const each of samples) await verify(each);
      verified += samples.length;
    },
  });
  return {
    ...measured,
    notes: [
      ...measured.notes,
      `of one core, preparing and checking counted: ${watch.text()}`,
      `no number given twice; ${verified} sampled tickets verified`,
    ],
  };
}

import { compare, type Side } from "../compare.ts";
import { createEdgeSigner, type EdgeSigner } from "../edge-signer.ts";
import { ask } from "../http.ts";
import type { Bench, Measured, Row } from "../row.ts";
import { bundledWorker, startWorkerd } from "../workerd.ts";

const KEYS = 5;
/** Of each side, used again and again: nothing remembers them. */
const ADMISSIONS = 100;
/** Verified by one request, so that HTTP is no part of the figure. */
const BATCH = 100;
/** Many and short, one right after the other: what disturbs the machine for longer falls on both. */
const PAIRS = 400;
const ROUND_MS = 14;
/** "The same", on either side of one. */
const LEAST = 0.95;
const MOST = 1.05;

const PATHS: Readonly<Record<Side, string>> = { candidate: "/five", floor: "/one" };

export const keysLookup: Row = {
  name: "keys-lookup",
  what: `look-up and verification of an admission with ${KEYS} keys in the set, each of which signed as many`,
  floor: "the same with one key in the set; the ratio is to be within 5 % of one",
  unit: "admissions/s",
  atLeast: LEAST,
  timeoutMs: 90_000,
  measure,
};

async function measure(bench: Bench): Promise<Measured> {
  const signers = await Promise.all(Array.from({ length: KEYS }, createEdgeSigner));
  const worker = await startWorkerd(bench.processes, bench.scratch, {
    name: "look-up",
    script: await bundledWorker("keys/look-up"),
    vars: {
      ...{ ONE_JWKS: setOf(signers.slice(0, 1)), FIVE_JWKS: setOf(signers) },
      ONE_ADMISSIONS: await admissions(signers.slice(0, 1)),
      FIVE_ADMISSIONS: await admissions(signers),
    },
  });
  const verify = async (side: Side, count: number): Promise<void> => {
    const reply = await ask(worker.port, { path: `${PATHS[side]}?count=${count}` });
    if (reply.body !== String(count))
      throw new Error(`${reply.body} of ${count} admissions were good`);
  };
  const measured = await compare(bench, {
    generator: {
      fire: async (side, count) => {
        const startedAt = performance.now();
        for (let left = count; left > 0; left -= BATCH)
          await verify(side as Side, Math.min(BATCH, left));
        return { elapsedMs: performance.now() - startedAt, samples: [] };
      },
    },
    pids: { candidate: worker.pid, floor: worker.pid },
    warmUp: bench.quick ? 2_000 : 8_000,
    pairs: PAIRS,
    roundMs: ROUND_MS,
  });
  const misses = measured.ratio > MOST ? [`five keys are faster than one by more than 5 %`] : [];
  return { ...measured, misses };
}

function setOf(signers: readonly EdgeSigner[]): string {
  const sets = signers.map(({ jwks }) => JSON.parse(jwks) as { keys: readonly unknown[] });
  return JSON.stringify({ keys: sets.flatMap(({ keys }) => keys) });
}

/** As many of each key, one after the other. */
async function admissions(signers: readonly EdgeSigner[]): Promise<string> {
  const each = ADMISSIONS / signers.length;
  const signed = await Promise.all(signers.map((signer) => signer.admissions(each)));
  return Array.from({ length: each }, (_, index) =>
    signed.map((some) => `${some[index]?.visitor} ${some[index]?.token}`).join("\n"),
  ).join("\n");
}

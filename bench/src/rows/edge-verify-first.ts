import { compare, type Side } from "../compare.ts";
import { type EdgeCandidate, startEdge } from "../edge-candidate.ts";
import { ADMISSION_COOKIE, admittedHead } from "../edge-world.ts";
import { ORIGIN_BODY } from "../floors/origin.ts";
import { Generator } from "../load/generator-handle.ts";
import type { Bench, Measured, Row } from "../row.ts";
import { floorScript, startWorkerd } from "../workerd.ts";

const CONNECTIONS = 32;
const WARM_UP = 6_000;
const WARM_UP_QUICK = 1_200;
const TOKENS_MAX = 80_000;

export const edgeVerifyFirst: Row = {
  name: "edge-verify-first",
  what: "a request with an admission not seen before, forwarded",
  floor: "bare workerd: one raw Ed25519 verify of the same tokens and the same forwarding",
  unit: "requests/s",
  atLeast: 0.75,
  timeoutMs: 240_000,
  measure,
};

async function measure(bench: Bench): Promise<Measured> {
  const world = await startEdge(bench);
  const floor = await startWorkerd(bench.processes, bench.scratch, {
    name: "floor",
    script: await floorScript("verify"),
    vars: {
      ORIGIN_URL: world.originUrl,
      COOKIE: ADMISSION_COOKIE,
      KEY: world.signer.publicKey,
    },
  });
  const generator = Generator.start(bench.processes);
  const ports: Readonly<Record<Side, number>> = { candidate: world.edge.port, floor: floor.port };
  /** Both sides get the same tokens, each token once. */
  const provide = async (count: number): Promise<void> => {
    const file = await tokenFile(bench, world, count);
    for (const side of ["candidate", "floor"] as const) {
      await generator.prepare({
        side,
        port: ports[side],
        connections: CONNECTIONS,
        requests: { kind: "once", file, head: admittedHead("$VISITOR", "$TOKEN") },
        answers: { status: 200, body: { kind: "equals", text: ORIGIN_BODY } },
      });
    }
  };
  const warmUp = bench.quick ? WARM_UP_QUICK : WARM_UP;
  await provide(warmUp);
  const measured = await compare(bench, {
    generator,
    pids: { candidate: world.edge.pid, floor: floor.pid },
    warmUp,
    provide,
    totalMax: TOKENS_MAX,
  });
  await world.proveForwarding(floor);
  return measured;
}

async function tokenFile(bench: Bench, world: EdgeCandidate, count: number): Promise<string> {
  return world.signer.admissionsFile(bench, count);
}

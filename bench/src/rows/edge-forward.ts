import { compare } from "../compare.ts";
import { startEdge } from "../edge-candidate.ts";
import { ADMISSION_COOKIE, admittedHead } from "../edge-world.ts";
import { ORIGIN_BODY } from "../floors/origin.ts";
import { Generator } from "../load/generator-handle.ts";
import type { Bench, Measured, Row } from "../row.ts";
import { floorScript, startWorkerd } from "../workerd.ts";

const CONNECTIONS = 32;
/** As in `edge-verify-again`: all of them seen before. */
const SHOPPERS = 64;

export const edgeForward: Row = {
  name: "edge-forward",
  what: "a request of a fan who was let in before, forwarded",
  floor: "bare workerd: the same forwarding, and nothing is checked",
  unit: "requests/s",
  atLeast: 0.9,
  timeoutMs: 180_000,
  measure,
};

async function measure(bench: Bench): Promise<Measured> {
  const world = await startEdge(bench);
  const floor = await startWorkerd(bench.processes, bench.scratch, {
    name: "floor",
    script: await floorScript("forward"),
    vars: { ORIGIN_URL: world.originUrl, COOKIE: ADMISSION_COOKIE },
  });
  const shoppers = await world.signer.admissions(SHOPPERS);
  const generator = Generator.start(bench.processes);
  for (const [side, { port }] of [
    ["candidate", world.edge],
    ["floor", floor],
  ] as const) {
    await generator.prepare({
      side,
      port,
      connections: CONNECTIONS,
      requests: {
        kind: "same",
        heads: shoppers.map(({ visitor, token }) => admittedHead(visitor, token)),
      },
      answers: { status: 200, body: { kind: "equals", text: ORIGIN_BODY } },
    });
  }
  const measured = await compare(bench, {
    generator,
    pids: { candidate: world.edge.pid, floor: floor.pid },
    warmUp: bench.quick ? 1_800 : 12_000,
  });
  await world.proveForwarding(floor);
  return measured;
}

import { compare } from "../compare.ts";
import { startEdge } from "../edge-candidate.ts";
import { EVENT, getHead, HOST } from "../edge-world.ts";
import { ask } from "../http.ts";
import { Generator } from "../load/generator-handle.ts";
import type { Bench, Measured, Row } from "../row.ts";
import { floorScript, startWorkerd } from "../workerd.ts";

const CONNECTIONS = 32;
const PATH = `/_vestibule/events/${EVENT}/drip`;

export const edgePoll: Row = {
  name: "edge-poll",
  what: "a drip poll at the edge",
  floor: "bare workerd answering a constant body of the same size",
  unit: "requests/s",
  atLeast: 0.9,
  timeoutMs: 180_000,
  measure,
};

async function measure(bench: Bench): Promise<Measured> {
  const { edge, stubMint } = await startEdge(bench);
  const poll = await ask(edge.port, { path: PATH, headers: { host: HOST } });
  if (poll.status !== 200) throw new Error(`the edge polls badly: ${poll.status} ${poll.body}`);
  const body = "x".repeat(Buffer.byteLength(poll.body));
  const floor = await startWorkerd(bench.processes, bench.scratch, {
    name: "floor",
    script: await floorScript("constant"),
    vars: { BODY: body, CONTENT_TYPE: "application/json" },
  });

  const generator = Generator.start(bench.processes);
  const requests = { kind: "same", heads: [getHead(PATH)] } as const;
  await generator.prepare({
    side: "candidate",
    port: edge.port,
    connections: CONNECTIONS,
    requests,
    answers: { status: 200, body: { kind: "drip", event: EVENT } },
  });
  await generator.prepare({
    side: "floor",
    port: floor.port,
    connections: CONNECTIONS,
    requests,
    answers: { status: 200, body: { kind: "equals", text: body } },
  });
  const before = stubMint.requests();
  const measured = await compare(bench, {
    generator,
    pids: { candidate: edge.pid, floor: floor.pid },
    warmUp: bench.quick ? 4_000 : 40_000,
  });
  return {
    ...measured,
    notes: [
      ...measured.notes,
      `a body of ${body.length} bytes; the mint was asked ${stubMint.requests() - before} times`,
    ],
  };
}

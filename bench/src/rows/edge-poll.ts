import { startEdge } from "../edge-candidate.ts";
import { besideConstant } from "../edge-constant.ts";
import { EVENT, getHead, HOST } from "../edge-world.ts";
import { ask } from "../http.ts";
import type { Bench, Measured, Row } from "../row.ts";

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
  const world = await startEdge(bench);
  const poll = await ask(world.edge.port, { path: PATH, headers: { host: HOST } });
  if (poll.status !== 200) throw new Error(`the edge polls badly: ${poll.status} ${poll.body}`);
  return besideConstant(bench, world, {
    head: getHead(PATH),
    constant: "x".repeat(Buffer.byteLength(poll.body)),
    contentType: "application/json",
    body: { kind: "drip", event: EVENT },
    warmUp: bench.quick ? 4_000 : 40_000,
  });
}

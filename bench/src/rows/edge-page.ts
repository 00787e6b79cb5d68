import { compare } from "../compare.ts";
import { startEdge } from "../edge-candidate.ts";
import { HOST, PAGE_PATH, getHead } from "../edge-world.ts";
import { ask } from "../http.ts";
import { Generator } from "../load/generator-handle.ts";
import type { Bench, Measured, Row } from "../row.ts";
import { floorScript, startWorkerd } from "../workerd.ts";

const CONNECTIONS = 32;
/** Its beginning, its place for the number, its form and its script. */
const WORDS = ["<!doctype html>", "<main", "<form", "</script>"];

export const edgePage: Row = {
  name: "edge-page",
  what: "the holding page for a fan without a place",
  floor: "bare workerd that sends the same bytes, a constant text",
  unit: "requests/s",
  atLeast: 0.9,
  timeoutMs: 180_000,
  measure,
};

async function measure(bench: Bench): Promise<Measured> {
  const { edge, stubMint } = await startEdge(bench);
  const head = getHead(PAGE_PATH);
  const page = await ask(edge.port, {
    path: PAGE_PATH,
    headers: { host: HOST, accept: "text/html" },
  });
  const isPage = page.status === 200 && WORDS.every((word) => page.body.includes(word));
  if (!isPage) throw new Error(`no holding page: ${page.status} ${page.body.slice(0, 200)}`);
  const { body } = page;
  const bytes = Buffer.byteLength(body);
  const floor = await startWorkerd(bench.processes, bench.scratch, {
    name: "floor",
    script: await floorScript("constant"),
    vars: { BODY: body, CONTENT_TYPE: "text/html; charset=utf-8" },
  });
  const generator = Generator.start(bench.processes);
  const requests = { kind: "same", heads: [head] } as const;
  await generator.prepare({
    side: "candidate",
    port: edge.port,
    connections: CONNECTIONS,
    requests,
    answers: { status: 200, body: { kind: "page", bytes, words: WORDS } },
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
    warmUp: bench.quick ? 1_800 : 12_000,
  });
  return {
    ...measured,
    notes: [
      ...measured.notes,
      `a body of ${bytes} bytes; the mint was asked ${stubMint.requests() - before} times`,
    ],
  };
}

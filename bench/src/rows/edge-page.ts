import { startEdge } from "../edge-candidate.ts";
import { besideConstant } from "../edge-constant.ts";
import { HOST, PAGE_PATH, getHead } from "../edge-world.ts";
import { ask } from "../http.ts";
import type { Bench, Measured, Row } from "../row.ts";

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
  const world = await startEdge(bench);
  const page = await ask(world.edge.port, {
    path: PAGE_PATH,
    headers: { host: HOST, accept: "text/html" },
  });
  const isPage = page.status === 200 && WORDS.every((word) => page.body.includes(word));
  if (!isPage) throw new Error(`no holding page: ${page.status} ${page.body.slice(0, 200)}`);
  return besideConstant(bench, world, {
    head: getHead(PAGE_PATH),
    constant: page.body,
    contentType: "text/html; charset=utf-8",
    body: { kind: "page", bytes: Buffer.byteLength(page.body), words: WORDS },
    warmUp: bench.quick ? 1_800 : 12_000,
  });
}

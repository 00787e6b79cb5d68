import { DRIP_REFRESH_MS, JWKS_REFRESH_MS, MANIFEST_REFRESH_MS } from "@vestibule/contracts/limits";
import { CLOCK_ASK_SOON_MS } from "@vestibule/feed/limits";

import { startEdge } from "../edge-candidate.ts";
import { EVENT, getHead } from "../edge-world.ts";
import { Generator } from "../load/generator-handle.ts";
import type { Bench, Measured, Row } from "../row.ts";

const POLLS = 1_000_000;
const POLLS_QUICK = 40_000;
const BATCH = 20_000;
const CONNECTIONS = 32;
/** What one location may ask for, however many ask it, and how often. */
const EVERY_MS: Readonly<Record<string, number>> = {
  [`GET /v1/events/${EVENT}/drip`]: DRIP_REFRESH_MS,
  "GET /v1/manifest": MANIFEST_REFRESH_MS,
  "GET /.well-known/jwks.json": JWKS_REFRESH_MS,
  // What time is it? Twice in a row where the first answer took long.
  "POST /v1/edges/bench/clock": CLOCK_ASK_SOON_MS,
};
const DRIP = `GET /v1/events/${EVENT}/drip`;

export const mintCalls: Row = {
  name: "mint-calls",
  what: "statements that a location asks its mint for while 1,000,000 polls come",
  floor: "one a second; floor ÷ candidate",
  unit: "statements",
  atLeast: 1,
  timeoutMs: 240_000,
  measure,
};

async function measure(bench: Bench): Promise<Measured> {
  const { edge, stubMint } = await startEdge(bench);
  const generator = Generator.start(bench.processes);
  await generator.prepare({
    ...{ side: "candidate", port: edge.port, connections: CONNECTIONS },
    requests: { kind: "same", heads: [getHead(`/_vestibule/events/${EVENT}/drip`)] },
    answers: { status: 200, body: { kind: "drip", event: EVENT } },
  });
  await generator.fire("candidate", BATCH);
  const before = stubMint.asked();
  const startedAt = performance.now();
  const polls = bench.quick ? POLLS_QUICK : POLLS;
  for (let sent = 0; sent < polls; sent += BATCH) {
    bench.progress(`${sent.toLocaleString("en")} of ${polls.toLocaleString("en")} polls`);
    await generator.fire("candidate", BATCH);
  }
  const elapsedMs = performance.now() - startedAt;
  const calls = [...stubMint.asked()].map(([what, count]) => ({
    what,
    count: count - (before.get(what) ?? 0),
    // What falls due, and one that was due when the counting began.
    most: what in EVERY_MS ? Math.floor(elapsedMs / (EVERY_MS[what] ?? 1)) + 1 : 0,
  }));
  const drips = calls.find(({ what }) => what === DRIP);
  if (drips === undefined) throw new Error("the mint was never asked for a statement");
  const beyond = calls.filter(({ count, most }) => count > most);
  return {
    candidate: drips.count,
    floor: drips.most,
    ratio: drips.most / Math.max(1, drips.count),
    misses: beyond.map(({ what, count, most }) => `${what}: ${count} times, at most ${most}`),
    notes: [
      `${polls.toLocaleString("en")} polls in ${(elapsedMs / 1_000).toFixed(0)} s; all that the mint was asked: ${calls
        .filter(({ count }) => count > 0)
        .map(({ what, count, most }) => `${what} ${count} (at most ${most})`)
        .join(", ")}`,
    ],
  };
}

import { randomBytes } from "node:crypto";
import { join } from "node:path";

import { compare, type Side } from "../compare.ts";
import type { JoinFloorOptions } from "../floors/join-server.ts";
import { ask } from "../http.ts";
import { latency } from "../latency.ts";
import { Generator } from "../load/generator-handle.ts";
import type { Sample } from "../load/messages.ts";
import { ticketVerifier } from "../mint/ticket-verifier.ts";
import { EVENT, JOIN_HEAD, type MintCandidate, startMint } from "../mint-candidate.ts";
import type { Bench, Measured, Row } from "../row.ts";

const CONNECTIONS = 32;
/** The part of its throughput at which the mint's answers are timed. */
const LOAD = 0.7;
const P99_FLOOR_MEDIANS_MAX = 10;

export const mintJoin: Row = {
  name: "mint-join",
  what: "a join at the mint, each of a new visitor",
  floor: "bare node:http: JSON in, one Ed25519 signature, JSON out, bodies of the same size",
  unit: "joins/s",
  atLeast: 0.85,
  timeoutMs: 240_000,
  measure,
};

async function measure(bench: Bench): Promise<Measured> {
  const mint = await startMint(bench);
  const ticket = await oneTicket(mint);
  const floorServer = bench.processes.node(
    "floor of mint-join",
    join(import.meta.dirname, "../floors/join-server.ts"),
    { env: { NODE_ENV: "production" } },
  );
  const options: JoinFloorOptions = {
    event: EVENT,
    signingInputChars: ticket.lastIndexOf("."),
  };
  const { port: floorPort } = (await floorServer.ask(options)) as { port: number };

  const generator = Generator.start(bench.processes);
  const both = {
    connections: CONNECTIONS,
    requests: { kind: "join", head: JOIN_HEAD },
    answers: { status: 201, body: { kind: "join", event: EVENT } },
  } as const;
  await generator.prepare({ side: "candidate", port: mint.port, ...both });
  await generator.prepare({ side: "floor", port: floorPort, ...both });

  const verify = await ticketVerifier(mint);
  let verified = 0;
  const inspect = async (side: Side, samples: readonly Sample[]): Promise<void> => {
    if (side === "floor") return;
    for (const sample of samples) await verify(sample);
    verified += samples.length;
  };
  const measured = await compare(bench, {
    generator,
    pids: { candidate: mint.pid, floor: floorServer.pid },
    warmUp: bench.quick ? 3_000 : 30_000,
    inspect,
  });
  const perSecond = measured.candidate * LOAD;
  const { medianMs, p99Ms } = await latency(bench, { generator, perSecond, inspect });
  const p99 = p99Ms.candidate / medianMs.floor;
  return {
    ...measured,
    notes: [
      ...measured.notes,
      `at ${Math.round(perSecond)} joins a second, ${LOAD * 100} % of what it can: median ${ms(medianMs.candidate)}, p99 ${ms(p99Ms.candidate)}; floor ${ms(medianMs.floor)} and ${ms(p99Ms.floor)}. The p99 is ${p99.toFixed(1)} times the floor's median`,
      `no number given twice; ${verified} sampled tickets verified`,
    ],
    misses:
      p99 < P99_FLOOR_MEDIANS_MAX
        ? []
        : [`the p99 is to be under ${P99_FLOOR_MEDIANS_MAX} times the floor's median`],
  };
}

/** A ticket as the mint makes them, for its length. */
async function oneTicket(mint: MintCandidate): Promise<string> {
  const joined = await ask(mint.port, {
    method: "POST",
    path: `/v1/events/${EVENT}/tickets`,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ visitor: randomBytes(32).toString("base64url") }),
  });
  if (joined.status !== 201)
    throw new Error(`the mint took no join: ${joined.status} ${joined.body}`);
  return (JSON.parse(joined.body) as { ticket: string }).ticket;
}

function ms(value: number): string {
  return `${value.toFixed(2)} ms`;
}

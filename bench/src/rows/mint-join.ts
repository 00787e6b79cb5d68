import { randomBytes } from "node:crypto";
import { join } from "node:path";

import { parseJwks } from "@vestibule/keys/key-set";
import { epochMs } from "@vestibule/kernel/units";
import { verifyTicket } from "@vestibule/token/verify-ticket";

import { compare } from "../compare.ts";
import type { JoinFloorOptions } from "../floors/join-server.ts";
import { ask } from "../http.ts";
import { Generator } from "../load/generator-handle.ts";
import type { Sample } from "../load/messages.ts";
import { EVENT, ISSUER, JOIN_HEAD, type MintCandidate, startMint } from "../mint-candidate.ts";
import type { Bench, Measured, Row } from "../row.ts";

const CONNECTIONS = 32;

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
  const measured = await compare(bench, {
    generator,
    pids: { candidate: mint.pid, floor: floorServer.pid },
    warmUp: bench.quick ? 3_000 : 30_000,
    inspect: async (side, samples) => {
      if (side === "floor") return;
      for (const sample of samples) await verify(sample);
      verified += samples.length;
    },
  });
  return {
    ...measured,
    notes: [...measured.notes, `no number given twice; ${verified} sampled tickets verified`],
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

/** Verifies as the edge does, with the keys that the mint publishes. */
async function ticketVerifier(mint: MintCandidate): Promise<(sample: Sample) => Promise<void>> {
  const published = await ask(mint.port, { path: "/.well-known/jwks.json" });
  const keys = await parseJwks(JSON.parse(published.body) as unknown);
  if (!keys.ok) throw new Error("the mint publishes no good key set");
  return async ({ visitor, ticket }) => {
    const result = await verifyTicket(ticket, {
      keys: keys.value,
      issuer: ISSUER,
      event: EVENT,
      visitor,
      now: epochMs(Date.now()),
      skewSeconds: 5,
    });
    if (!result.ok)
      throw new Error(`the mint signed a bad ticket: ${JSON.stringify(result.refusal)}`);
  };
}

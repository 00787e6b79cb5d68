import { createHmac, randomBytes } from "node:crypto";

import { compare } from "../compare.ts";
import { startEdge } from "../edge-candidate.ts";
import { ADMISSION_COOKIE, admittedHead } from "../edge-world.ts";
import { ORIGIN_BODY } from "../floors/origin.ts";
import { Generator } from "../load/generator-handle.ts";
import type { Bench, Measured, Row } from "../row.ts";
import { floorScript, startWorkerd } from "../workerd.ts";

const CONNECTIONS = 32;
/** As many shoppers as one isolate may serve at a time; small enough for any sane memo. */
const SHOPPERS = 64;

export const edgeVerifyAgain: Row = {
  name: "edge-verify-again",
  what: "a request with an admission that this isolate has seen, forwarded",
  floor:
    "bare workerd: one HMAC-SHA-256 verify of a token of the same size and the same forwarding",
  unit: "requests/s",
  atLeast: 1,
  timeoutMs: 180_000,
  measure,
};

async function measure(bench: Bench): Promise<Measured> {
  const world = await startEdge(bench);
  const secret = randomBytes(32);
  const floor = await startWorkerd(bench.processes, bench.scratch, {
    name: "floor",
    script: await floorScript("hmac"),
    vars: {
      ORIGIN_URL: world.originUrl,
      COOKIE: ADMISSION_COOKIE,
      KEY: secret.toString("base64url"),
    },
  });
  const shoppers = await world.signer.admissions(SHOPPERS);
  const generator = Generator.start(bench.processes);
  const answers = { status: 200, body: { kind: "equals", text: ORIGIN_BODY } } as const;
  await generator.prepare({
    side: "candidate",
    port: world.edge.port,
    connections: CONNECTIONS,
    requests: {
      kind: "same",
      heads: shoppers.map(({ visitor, token }) => admittedHead(visitor, token)),
    },
    answers,
  });
  await generator.prepare({
    side: "floor",
    port: floor.port,
    connections: CONNECTIONS,
    requests: {
      kind: "same",
      heads: shoppers.map(({ visitor, token }) =>
        admittedHead(visitor, sharedSecretToken(secret, token.length)),
      ),
    },
    answers,
  });
  const measured = await compare(bench, {
    generator,
    pids: { candidate: world.edge.pid, floor: floor.pid },
    warmUp: bench.quick ? 1_800 : 12_000,
  });
  await world.proveForwarding(floor, ({ length }) => sharedSecretToken(secret, length));
  return measured;
}

/** As long as ours, with a MAC in place of the signature. */
function sharedSecretToken(secret: Buffer, chars: number): string {
  const macChars = 43;
  const input = randomBytes(chars)
    .toString("base64url")
    .slice(0, chars - macChars - 1);
  return `${input}.${createHmac("sha256", secret).update(input).digest("base64url")}`;
}

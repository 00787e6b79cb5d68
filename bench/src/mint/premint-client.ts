/** Asks a mint for batches of places over HTTP, as some runs of `vestibule premint` at once do, and looks at every answer afterwards. */
import { randomBytes } from "node:crypto";

import { PREMINT_BATCH_MAX } from "@vestibule/contracts/limits";
import type { PremintAnswer } from "@vestibule/contracts/premint-api";
import { hashVisitor } from "@vestibule/token/visitor";

import type { HttpAnswer } from "../load/http-response.ts";
import { Lane } from "../load/lane.ts";
import type { Sample } from "../load/messages.ts";
import { EVENT, type MintCandidate } from "../mint-candidate.ts";

/** One is signed while the others are recorded and read: what the mint can, not what one list takes. */
const BATCHES_UNDER_WAY = 3;
const SAMPLES_PER_ROUND = 4;

interface Batch {
  readonly request: Buffer;
  readonly visitors: readonly string[];
}

export class PremintClient {
  readonly #mint: MintCandidate;
  readonly #lanes: readonly Lane[];
  readonly #numbers = new Set<number>();
  #batches = 0;

  constructor(mint: MintCandidate) {
    this.#mint = mint;
    this.#lanes = Array.from({ length: BATCHES_UNDER_WAY }, () => new Lane(mint.port));
  }

  /** Places for `count` people. Requests are made before its clock starts, and answers read after it. */
  async fire(count: number): Promise<{ elapsedMs: number; samples: readonly Sample[] }> {
    const batches: Batch[] = [];
    for (let left = count; left > 0; left -= PREMINT_BATCH_MAX)
      batches.push(this.#batch(Math.min(left, PREMINT_BATCH_MAX)));
    const answers: HttpAnswer[] = [];
    let next = 0;
    for (const lane of this.#lanes) await lane.open();
    const startedAt = performance.now();
    const run = async (lane: Lane): Promise<void> => {
      for (let index = next++; index < batches.length; index = next++)
        answers[index] = await lane.send(batches[index]?.request ?? Buffer.alloc(0));
    };
    await Promise.all(this.#lanes.map(run));
    const elapsedMs = performance.now() - startedAt;
    return {
      elapsedMs,
      samples: batches.flatMap((batch, index) => this.#look(batch, answers[index])),
    };
  }

  #batch(count: number): Batch {
    const visitors = Array.from({ length: count }, () => randomBytes(32).toString("base64url"));
    const body = JSON.stringify({ subs: visitors.map(hashVisitor) });
    this.#batches += 1;
    const head = [
      `PUT /v1/admin/events/${EVENT}/premints/bench-${this.#batches} HTTP/1.1`,
      "Host: mint.bench.example",
      `Authorization: Bearer ${this.#mint.adminToken}`,
      "Content-Type: application/json",
      `Content-Length: ${Buffer.byteLength(body)}`,
      "",
      "",
    ];
    return { request: Buffer.from(head.join("\r\n") + body), visitors };
  }

  /** @throws Error for a wrong answer, and for a number that was given before. */
  #look({ visitors }: Batch, answer: HttpAnswer | undefined): readonly Sample[] {
    if (answer?.status !== 200) throw new Error(`the mint gave no places: ${answer?.status}`);
    const { first, tickets } = JSON.parse(answer.body.toString()) as PremintAnswer;
    if (tickets.length !== visitors.length) throw new Error("other places than were asked for");
    for (let index = 0; index < visitors.length; index += 1) {
      if (this.#numbers.has(first + index)) throw new Error(`number ${first + index} twice`);
      this.#numbers.add(first + index);
    }
    const every = Math.ceil(visitors.length / SAMPLES_PER_ROUND);
    return visitors.flatMap((visitor, index) =>
      index % every === 0 ? [{ visitor, ticket: tickets[index] ?? "" }] : [],
    );
  }
}

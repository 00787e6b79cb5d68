/**
 * Requests by a schedule that no answer moves (open loop): each is due at its moment, and its time runs from then,
 * also while it waits for a connection. So a server that stalls pays for all who came meanwhile.
 */
import type { AnswerCheck } from "./answer-check.ts";
import { Lane } from "./lane.ts";
import type { Outgoing } from "./request-source.ts";

/** Timers are no finer: what is due within one is sent together, on either side. */
const TICK_MS = 1;

export interface Pace {
  readonly port: number;
  readonly connections: number;
  readonly perSecond: number;
  readonly batch: readonly Outgoing[];
  readonly check: AnswerCheck;
}

/** @returns the time of each answer, ms. @throws Error at the first wrong answer. */
export async function pace(plan: Pace): Promise<readonly number[]> {
  const { port, connections, perSecond, batch, check } = plan;
  const lanes = Array.from({ length: connections }, () => new Lane(port));
  await Promise.all(lanes.map((lane) => lane.open()));
  const free = [...lanes];
  const took: number[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const startedAt = performance.now();
  const dueAt = (index: number): number => startedAt + (index * 1_000) / perSecond;
  let sent = 0;

  const sendDue = (): void => {
    const now = performance.now();
    for (; sent < batch.length && dueAt(sent) <= now; sent += 1) {
      const lane = free.pop();
      if (lane === undefined) return;
      send(lane, sent);
    }
  };
  const send = (lane: Lane, index: number): void => {
    const { bytes, visitor } = batch[index] ?? { bytes: Buffer.alloc(0) };
    lane
      .send(bytes)
      .then((answer) => {
        took.push(performance.now() - dueAt(index));
        check.look(answer, visitor);
        free.push(lane);
        if (took.length === batch.length) resolve();
        else sendDue();
      })
      .catch(reject);
  };
  const timer = setInterval(sendDue, TICK_MS);
  try {
    await promise;
  } finally {
    clearInterval(timer);
    for (const lane of lanes) lane.close();
  }
  return took;
}

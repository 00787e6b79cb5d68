/**
 * The load generator: a process of its own, so that it neither shares a thread with the harness
 * nor hides in its figures. A fixed number of keep-alive connections, each with one request in
 * flight: the server is saturated, and never has more than that to hold. Written on bare sockets,
 * since a generator that costs more than the server would measure itself.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

import { answerCheck, type AnswerCheck } from "./answer-check.ts";
import { readAnswer } from "./http-response.ts";
import type { FromGenerator, ToGenerator } from "./messages.ts";
import { pace } from "./pace.ts";
import { type Outgoing, requestSource, type RequestSource } from "./request-source.ts";
import { quantile } from "../statistics.ts";

const ROUND_TIMEOUT_MS = 60_000;
/** More than are under way at once while a server keeps up. */
const PACED_CONNECTIONS = 256;

interface Target {
  readonly port: number;
  connections: readonly Connection[];
  readonly source: RequestSource;
  readonly check: AnswerCheck;
}

interface Round {
  readonly batch: readonly Outgoing[];
  readonly check: AnswerCheck;
  sent: number;
  answered: number;
  readonly done: () => void;
  readonly fail: (error: Error) => void;
}

class Connection {
  readonly #socket: Socket;
  #part: Buffer | undefined;
  #round: Round | undefined;
  #inFlight: Outgoing | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (data) => this.#take(data));
    socket.on("error", (error) => this.#round?.fail(error));
    socket.on("close", () => this.#round?.fail(new Error("the server closed a connection")));
  }

  static async open(port: number): Promise<Connection> {
    const socket = connect({ host: "127.0.0.1", port });
    await once(socket, "connect");
    return new Connection(socket);
  }

  /** False once the server ended it, as servers do with connections that idle. */
  get usable(): boolean {
    return this.#socket.writable && this.#socket.readable;
  }

  start(round: Round): void {
    this.#round = round;
    this.#send(round);
  }

  close(): void {
    this.#round = undefined;
    this.#socket.destroy();
  }

  #send(round: Round): void {
    const next = round.batch[round.sent];
    if (next === undefined) {
      this.#round = undefined;
      return;
    }
    round.sent += 1;
    this.#inFlight = next;
    this.#socket.write(next.bytes);
  }

  #take(data: Buffer): void {
    const round = this.#round;
    const asked = this.#inFlight;
    if (round === undefined || asked === undefined) return;
    try {
      const all = this.#part === undefined ? data : Buffer.concat([this.#part, data]);
      const answer = readAnswer(all);
      this.#part = answer === undefined ? all : undefined;
      if (answer === undefined) return;
      if (answer.bytes !== all.length) throw new Error("more bytes than one answer");
      this.#inFlight = undefined;
      round.check.look(answer, asked.visitor);
    } catch (error) {
      round.fail(error as Error);
      return;
    }
    round.answered += 1;
    if (round.answered === round.batch.length) round.done();
    this.#send(round);
  }
}

const targets = new Map<string, Target>();

async function prepare(order: Extract<ToGenerator, { type: "prepare" }>): Promise<FromGenerator> {
  for (const connection of targets.get(order.side)?.connections ?? []) connection.close();
  const opening = Array.from({ length: order.connections }, () => Connection.open(order.port));
  targets.set(order.side, {
    port: order.port,
    connections: await Promise.all(opening),
    source: requestSource(order.requests),
    check: answerCheck(order.answers),
  });
  return { type: "prepared" };
}

async function fire(order: Extract<ToGenerator, { type: "fire" }>): Promise<FromGenerator> {
  const target = targets.get(order.side);
  if (target === undefined) throw new Error(`${order.side} was not prepared`);
  const batch = target.source.take(order.count);
  target.connections = await Promise.all(
    target.connections.map(async (one) => (one.usable ? one : Connection.open(target.port))),
  );
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const round: Round = {
    batch,
    check: target.check,
    sent: 0,
    answered: 0,
    done: resolve,
    fail: reject,
  };
  const timer = setTimeout(() => {
    reject(
      new Error(
        `${round.answered} of ${order.count} requests were answered in ${ROUND_TIMEOUT_MS / 1_000} s`,
      ),
    );
  }, ROUND_TIMEOUT_MS);
  const startedAt = performance.now();
  for (const connection of target.connections) connection.start(round);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
  }
  const elapsedMs = performance.now() - startedAt;
  return { type: "fired", elapsedMs, samples: target.check.samples() };
}

/** On connections of its own, so that none of them is half way through a round. */
async function paced(order: Extract<ToGenerator, { type: "pace" }>): Promise<FromGenerator> {
  const target = targets.get(order.side);
  if (target === undefined) throw new Error(`${order.side} was not prepared`);
  const took = await pace({
    port: target.port,
    connections: PACED_CONNECTIONS,
    perSecond: order.perSecond,
    batch: target.source.take(order.count),
    check: target.check,
  });
  return {
    type: "paced",
    medianMs: quantile(took, 0.5),
    p99Ms: quantile(took, 0.99),
    samples: target.check.samples(),
  };
}

async function act(order: ToGenerator): Promise<FromGenerator> {
  if (order.type === "prepare") return prepare(order);
  return order.type === "fire" ? fire(order) : paced(order);
}

async function obey(order: ToGenerator): Promise<void> {
  let answer: FromGenerator;
  try {
    answer = await act(order);
  } catch (error) {
    answer = { type: "failed", message: (error as Error).message };
  }
  process.send?.(answer);
}

process.on("message", (order: ToGenerator) => void obey(order));
process.on("disconnect", () => process.exit(0));

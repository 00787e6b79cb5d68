/** One keep-alive connection that carries one request at a time, as a browser's does. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

import { type HttpAnswer, readAnswer } from "./http-response.ts";

/** Longer than any answer may take: the rows judge, this only ends a hang. */
const ANSWER_TIMEOUT_MS = 15_000;

export class Lane {
  readonly #port: number;
  #socket: Socket | undefined;
  #part: Buffer | undefined;
  #waiting: { resolve: (answer: HttpAnswer) => void; reject: (error: Error) => void } | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  /** Connects when there is no connection, or the server ended it. */
  async open(): Promise<void> {
    if (this.#socket?.writable === true && this.#socket.readable) return;
    const socket = connect({ host: "127.0.0.1", port: this.#port });
    socket.setNoDelay(true);
    await once(socket, "connect");
    this.#socket = socket;
    this.#part = undefined;
    socket.on("data", (data) => this.#take(data));
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => this.#fail(new Error("the server closed the connection")));
  }

  /** On an open lane without a request under way: the request leaves before this returns. */
  send(bytes: Buffer): Promise<HttpAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
    if (this.#socket === undefined || this.#waiting !== undefined) {
      throw new Error("a lane carries one request at a time");
    }
    const timer = setTimeout(() => {
      this.#fail(new Error("no answer"));
      this.#socket?.destroy();
    }, ANSWER_TIMEOUT_MS);
    this.#waiting = { resolve, reject };
    this.#socket.write(bytes);
    return promise.finally(() => clearTimeout(timer));
  }

  close(): void {
    this.#socket?.destroy();
  }

  #take(data: Buffer): void {
    const all = this.#part === undefined ? data : Buffer.concat([this.#part, data]);
    try {
      const answer = readAnswer(all);
      this.#part = answer === undefined ? all : undefined;
      if (answer === undefined) return;
      if (answer.bytes !== all.length) throw new Error("more bytes than one answer");
      const waiting = this.#waiting;
      this.#waiting = undefined;
      waiting?.resolve(answer);
    } catch (error) {
      this.#fail(error as Error);
      this.#socket?.destroy();
    }
  }

  #fail(error: Error): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.reject(error);
  }
}

/** HTTP/1.1 as bytes on a socket, so that nothing is made better on the way: latin-1 texts, one per byte. */
import { once } from "node:events";
import { type Socket, connect } from "node:net";

/** In the order in which they were sent, names and values as they were sent. */
export type Fields = readonly (readonly [name: string, value: string])[];

export interface Head {
  /** The request line or the status line. */
  readonly start: string;
  readonly fields: Fields;
}

export interface Message extends Head {
  readonly body: Buffer;
}

const CRLF = "\r\n";

/** One end of a connection. */
export class Wire {
  readonly socket: Socket;
  /** Resolves when the other end sends no more, or is gone. */
  readonly closed: Promise<void>;
  /** What came, and how many bytes that is: put together when somebody reads. */
  #pieces: Buffer[] = [];
  #unreadBytes = 0;
  #ended = false;
  #wake: () => void = () => undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      for (const over of ["end", "close"]) socket.once(over, () => resolve());
    });
    socket.on("data", (data: Buffer) => {
      this.#pieces.push(data);
      this.#unreadBytes += data.length;
      this.#wake();
    });
    for (const over of ["end", "close", "error"]) {
      socket.on(over, () => {
        this.#ended = true;
        this.#wake();
      });
    }
  }

  static async open(port: number): Promise<Wire> {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    await once(socket, "connect");
    return new Wire(socket);
  }

  /** The other end sends no more, or is gone. */
  get isOver(): boolean {
    return this.#ended;
  }

  write(bytes: string | Uint8Array): void {
    this.socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  }

  /** Waits while the other end does not read. */
  async writeWhenFree(bytes: Uint8Array): Promise<void> {
    if (!this.socket.write(bytes)) await once(this.socket, "drain");
  }

  close(): void {
    this.socket.destroy();
  }

  /** The next head; `undefined` when the connection ends before one. */
  async head(): Promise<Head | undefined> {
    const text = await this.#until(CRLF + CRLF);
    if (text === undefined) return undefined;
    const [start = "", ...lines] = text.split(CRLF);
    return { start, fields: lines.map(field) };
  }

  /** So many bytes; fewer when the connection ends before. */
  async take(count: number): Promise<Buffer> {
    while (this.#unreadBytes < count && (await this.#more()));
    return this.#cut(count);
  }

  /** Whatever is there, once there is anything; empty at the end. */
  async some(): Promise<Buffer> {
    if (this.#unreadBytes === 0) await this.#more();
    return this.#cut(this.#unreadBytes);
  }

  /** Everything until the connection ends. */
  async rest(): Promise<Buffer> {
    while (await this.#more());
    return this.#cut(this.#unreadBytes);
  }

  /** The next chunk of a body in chunks; empty at its end. @throws Error when the connection ends within. */
  async chunk(): Promise<Buffer> {
    const size = await this.#until(CRLF);
    if (size === undefined) throw new Error("cut off between chunks");
    const length = Number.parseInt(size, 16);
    if (Number.isNaN(length)) throw new Error(`not the size of a chunk: ${size}`);
    const bytes = await this.take(length);
    const end = await this.take(2);
    if (bytes.length < length || end.toString() !== CRLF) throw new Error("cut off in a chunk");
    return bytes;
  }

  /** A body as its head says how long it is. @throws Error when the connection ends within. */
  async body(head: Head, without = false): Promise<Buffer> {
    if (without) return Buffer.alloc(0);
    if (valueOf(head, "transfer-encoding") !== undefined) {
      const chunks: Buffer[] = [];
      for (let next = await this.chunk(); next.length > 0; next = await this.chunk()) {
        chunks.push(next);
      }
      return Buffer.concat(chunks);
    }
    const length = valueOf(head, "content-length");
    if (length === undefined) {
      return head.start.startsWith("HTTP/") ? this.rest() : Buffer.alloc(0);
    }
    const bytes = await this.take(Number(length));
    if (bytes.length < Number(length)) throw new Error("cut off in a body");
    return bytes;
  }

  /** @returns false at the end. */
  async #more(): Promise<boolean> {
    if (this.#ended) return false;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    return !this.#ended;
  }

  async #until(mark: string): Promise<string | undefined> {
    for (;;) {
      const at = this.#whole().indexOf(mark);
      if (at !== -1) return this.#cut(at + mark.length).toString("latin1", 0, at);
      const bytes = this.#unreadBytes;
      if (!(await this.#more()) && this.#unreadBytes === bytes) return undefined;
    }
  }

  #whole(): Buffer {
    const [only] = this.#pieces;
    if (this.#pieces.length === 1 && only !== undefined) return only;
    const whole = Buffer.concat(this.#pieces);
    this.#pieces = [whole];
    return whole;
  }

  #cut(count: number): Buffer {
    const whole = this.#whole();
    const bytes = whole.subarray(0, count);
    this.#pieces = [whole.subarray(bytes.length)];
    this.#unreadBytes -= bytes.length;
    return bytes;
  }
}

/** The first value of this name, which is in lower case. */
export function valueOf({ fields }: Head, name: string): string | undefined {
  return fields.find(([of]) => of.toLowerCase() === name)?.[1];
}

export function statusOf({ start }: Head): number {
  return Number(start.split(" ", 2)[1]);
}

function field(line: string): readonly [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}

/**
 * One location of the deployed Worker between a client and an origin that are both sockets: what each end sees is compared
 * with what it sees when the two talk to each other directly.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { cookieName } from "@vestibule/contracts/names";
import { PROBLEM_TYPE_PREFIX } from "@vestibule/contracts/problems";

import { type System, freePortBase, openEvent, startSystem } from "../start-system.ts";
import { App, type Claimed } from "./app.ts";
import { type BareEdge, startBareEdge } from "./bare-edge.ts";
import {
  CASE_HEADER,
  type Script,
  type ScriptedOrigin,
  startScriptedOrigin,
} from "./scripted-origin.ts";
import { type Fields, type Head, type Message, Wire, statusOf, valueOf } from "./wire.ts";

const EVENT = "proxied";
/** Another one, which services and a network pass without a place. */
export const PASSING = {
  event: "passing",
  bypass: [
    { paths: ["/q/hook"], methods: ["POST"], services: ["payments"] },
    { paths: ["/q/probe"], networks: ["192.0.2.0/24"] },
  ],
};
const SHOWN_BYTES_MAX = 2_000;
/** Of the origin's head, and of an upload that stands still: long enough for a busy machine. */
export const DEADLINE_MS = 2_000;

export interface Request {
  /** `GET /p/x` */
  readonly start: string;
  /** `Name: value`, each as it is to be sent. */
  readonly fields?: readonly string[];
  /** With a length when it is one piece, else in chunks. */
  readonly body?: Uint8Array | string | readonly (Uint8Array | string)[];
  /** Shows no admission. */
  readonly isStranger?: boolean;
  /** The host asked for; that of the location when absent. */
  readonly host?: string;
}

/** What the origin saw of a request, and what the client saw of its answer. */
export interface Exchange {
  readonly seen: Message | undefined;
  readonly got: Message;
}

export class ProxyWorld {
  readonly origin: ScriptedOrigin;
  readonly edge: BareEdge;
  /** Another one, under which the origin is asked for the visitor's host, and told by other headers. */
  readonly visitorsEdge: BareEdge;
  readonly system: System;
  readonly #fan: Claimed;

  private constructor(parts: {
    system: System;
    origin: ScriptedOrigin;
    edges: readonly [BareEdge, BareEdge];
    fan: Claimed;
  }) {
    this.system = parts.system;
    this.origin = parts.origin;
    [this.edge, this.visitorsEdge] = parts.edges;
    this.#fan = parts.fan;
  }

  static async start(): Promise<ProxyWorld> {
    const system = await startSystem();
    const origin = await startScriptedOrigin();
    const port = await freePortBase();
    const common = {
      ORIGIN_URL: `http://127.0.0.1:${origin.port}`,
      ORIGIN_DEADLINE_MS: String(DEADLINE_MS),
    };
    await openEvent(system.ready, {
      ...{ event: EVENT, ratePerMinute: 60_000, lifetimeSeconds: 3_600, homePath: "/p" },
      hosts: [port, port + 1, origin.port].map((of) => `127.0.0.1:${of}`),
      paths: ["/p", "/p/*"],
      bypass: [{ paths: ["/p/hook"], methods: ["POST"] }, { paths: ["/p/logo.svg"] }],
    });
    await openEvent(system.ready, {
      ...{ ...PASSING, ratePerMinute: 1, homePath: "/q" },
      hosts: [`127.0.0.1:${port}`],
      paths: ["/q", "/q/*"],
    });
    const edges = await Promise.all([
      startBareEdge(system, { port, vars: { ...common, TRUST_CLIENT_ADDRESS: "yes" } }),
      startBareEdge(system, {
        port: port + 1,
        vars: {
          ...common,
          ORIGIN_HOST: "visitor",
          FORWARDED_HEADERS: "forwarded, x-real-ip, x-forwarded-port",
        },
      }),
    ]);
    const app = await new App(`http://127.0.0.1:${port}`, EVENT).known();
    await new App(`http://127.0.0.1:${port + 1}`, EVENT).known();
    const fan = await app.claim(await app.join());
    return new ProxyWorld({ system, origin, edges, fan });
  }

  async stop(): Promise<void> {
    await Promise.all([this.edge.stop(), this.visitorsEdge.stop()]);
    await this.origin.close();
    await this.system.stop();
  }

  get host(): string {
    return `127.0.0.1:${this.edge.port}`;
  }

  get pass(): { admission: string; visitor: string } {
    return this.#fan;
  }

  /** `Origin` of a script on the shop's own page. */
  get page(): string {
    return `Origin: http://${this.host}`;
  }

  /** Status, code and `Retry-After` of a refusal of ours, which the shop's own page can read. */
  told(got: Message): readonly unknown[] {
    const { type } = JSON.parse(got.body.toString()) as { type: string };
    const names = ["access-control-allow-origin", "vary", "cache-control", "content-type"];
    assert.deepEqual(
      names.map((name) => valueOf(got, name)),
      [...[`http://${this.host}`, "Origin", "private, no-store", "application/problem+json"]],
    );
    return [statusOf(got), type.replace(PROBLEM_TYPE_PREFIX, ""), valueOf(got, "retry-after")];
  }

  /** The head of a request of the admitted fan, with its empty line. */
  head({ start, fields = [], body, isStranger = false, host = this.host }: Request, id?: string) {
    const { visitor, admission } = this.#fan;
    const ours = [
      `${cookieName("visitor", EVENT, { https: false })}=${visitor}`,
      `${cookieName("admission", EVENT, { https: false })}=${admission}`,
    ];
    const cookies = ["shop=a b", ...(isStranger ? [] : ours), 'basket="1,2"'];
    const framed =
      body === undefined
        ? []
        : Array.isArray(body)
          ? ["Transfer-Encoding: chunked"]
          : [`Content-Length: ${bytesOf(body as string).length}`];
    const lines = [`Host: ${host}`, `Cookie: ${cookies.join("; ")}`, ...fields, ...framed];
    if (id !== undefined) lines.push(`${CASE_HEADER}: ${id}`);
    return `${start} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`;
  }

  /** Sends it to the location, or to another port; the answer is still to be read. */
  async open(request: Request, script: Script, port = this.edge.port): Promise<Wire> {
    return this.#send(request, this.origin.answer(script), port);
  }

  /** One exchange through the location, or another port. The origin reads the body before `script` answers. */
  async exchange(request: Request, script: Script, port = this.edge.port): Promise<Exchange> {
    let seen: Message | undefined;
    const wire = await this.open(
      request,
      async (head, at) => {
        const fields = head.fields.filter(([name]) => !isCase(name));
        seen = { start: head.start, fields, body: await at.body(head) };
        await script(head, at);
      },
      port,
    );
    const got = await this.answer(wire, request);
    return { seen, got };
  }

  /** The whole answer. */
  async answer(wire: Wire, request: Request): Promise<Message> {
    const head = await wire.head();
    if (head === undefined) throw new Error("no answer");
    const without = request.start.startsWith("HEAD ") || [204, 304].includes(statusOf(head));
    const body = await wire.body(head, without);
    wire.close();
    return { ...head, body };
  }

  /** What the origin saw without what the location adds, which must be there. */
  asForwarded(seen: Message | undefined): unknown {
    if (seen === undefined) return undefined;
    const known = new Map([
      ["x-forwarded-host", this.host],
      ["x-forwarded-proto", "http"],
      ["vestibule-admission", this.#fan.admission],
      ["vestibule-visitor", this.#fan.visitor],
      ["host", `127.0.0.1:${this.origin.port}`],
    ]);
    const told = new Map(seen.fields.map(([name, value]) => [name.toLowerCase(), value]));
    for (const [name, value] of known) assert.equal(told.get(name), value, name);
    const fields = seen.fields.filter(([name]) => !known.has(name.toLowerCase()));
    return { start: seen.start, body: short(seen.body), fields: inOrder(fields) };
  }

  async #send(request: Request, id: string, port: number): Promise<Wire> {
    const wire = await Wire.open(port);
    wire.write(this.head(request, id));
    const { body } = request;
    if (body === undefined) return wire;
    if (!Array.isArray(body)) wire.write(bytesOf(body as string));
    else {
      for (const piece of body as readonly string[]) wire.write(inChunk(piece));
      wire.write("0\r\n\r\n");
    }
    return wire;
  }
}

/** The same request to the origin itself and through the location: the same at both ends, but for what a proxy must do. */
export async function expectSame(
  world: ProxyWorld,
  request: Request,
  script: Script = plainAnswer,
): Promise<Exchange> {
  const direct = await world.exchange(request, script, world.origin.port);
  const through = await world.exchange(request, script);
  assert.deepEqual(world.asForwarded(through.seen), asSent(direct.seen));
  assert.deepEqual(asGot(through.got), asGot(direct.got));
  return through;
}

/** What a client sent, as it must arrive: without the host, with the shop's own cookies. */
function asSent(seen: Message | undefined): unknown {
  if (seen === undefined) return undefined;
  const fields = seen.fields
    .filter(([name]) => name.toLowerCase() !== "host")
    .map(([name, value]) => [name, name === "Cookie" ? OWN_COOKIES : value] as const);
  // The runtime says so where a method may have a body and there is none.
  const isBare = !/^(?:GET|HEAD) /.test(seen.start) && !fields.some(isFrame);
  const framed: Fields = isBare ? [...fields, ["Content-Length", "0"]] : fields;
  return { start: seen.start, body: short(seen.body), fields: inOrder(framed) };
}

const OWN_COOKIES = 'shop=a b; basket="1,2"';

/** Enough to compare, and to be read. */
function short(body: Buffer): string {
  if (body.length < SHOWN_BYTES_MAX) return body.toString("latin1");
  return `${body.length} bytes, sha256 ${createHash("sha256").update(body).digest("hex")}`;
}

function isCase(name: string): boolean {
  return name.toLowerCase() === CASE_HEADER.toLowerCase();
}

function isFrame([name]: readonly [string, string]): boolean {
  return /^(?:content-length|transfer-encoding)$/i.test(name);
}

function asGot({ start, fields, body }: Message): unknown {
  return { start, body: short(body), fields: inOrder(fields) };
}

/**
 * Names in lower case and in order, and what came several times joined: that means the same (RFC 9110 sections 5.1 and 5.3).
 * `Set-Cookie` is never joined.
 */
export function inOrder(fields: Fields): readonly string[] {
  const joined = new Map<string, string>();
  const cookies: string[] = [];
  for (const [sent, value] of fields) {
    const name = sent.toLowerCase();
    if (name === "set-cookie") cookies.push(value);
    else joined.set(name, joined.has(name) ? `${joined.get(name)}, ${value}` : value);
  }
  const lines = [...joined].map(([name, value]) => `${name}: ${value}`);
  return [...lines.toSorted(), ...cookies.map((value) => `set-cookie: ${value}`)];
}

export const plainAnswer: Script = (_head: Head, wire: Wire) => {
  wire.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
};

/** Answers with these very bytes. */
export function saying(...pieces: readonly (string | Uint8Array)[]): Script {
  return (_head, wire) => {
    for (const piece of pieces) wire.write(piece);
  };
}

/** The same, and hangs up. */
export function lastWords(...pieces: readonly (string | Uint8Array)[]): Script {
  return (_head, wire) => {
    for (const piece of pieces) wire.write(piece);
    wire.socket.end();
  };
}

export function inChunk(piece: string | Uint8Array): Uint8Array {
  const bytes = bytesOf(piece);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, CRLF]);
}

const CRLF = Buffer.from("\r\n");

/** A body in chunks that takes its time; it stops when nobody is there any more. */
export async function trickle(
  to: Wire,
  pieces: readonly string[],
  options: { everyMs: number },
): Promise<void> {
  for (const piece of pieces) {
    if (to.isOver) return;
    to.write(inChunk(piece));
    await sleep(options.everyMs);
  }
  to.write("0\r\n\r\n");
}

/** Nothing moved for so long: whoever sends is held back. */
const STILL_MS = 400;

/** Until something was sent, and then nothing more. */
export async function untilStill(bytes: () => number): Promise<void> {
  for (let before = -1; before !== bytes() || bytes() === 0;) {
    before = bytes();
    await sleep(STILL_MS);
  }
}

function bytesOf(piece: string | Uint8Array): Uint8Array {
  return typeof piece === "string" ? Buffer.from(piece, "latin1") : piece;
}

/** What an app without cookies does at an edge, and what the purchase API takes directly. */
import { randomBytes } from "node:crypto";

import type { EdgeClaimAnswer, EdgeJoinAnswer, EdgePlace } from "@vestibule/contracts/line-api";
import {
  ADMISSION_HEADER,
  EDGE_PREFIX,
  IDEMPOTENCY_KEY_HEADER,
  MODE_HEADER,
  TICKET_HEADER,
  VISITOR_HEADER,
} from "@vestibule/contracts/names";
import { PROBLEM_TYPE_PREFIX } from "@vestibule/contracts/problems";
import type { PurchaseAnswer } from "@vestibule/contracts/purchase-api";
import type { DripView } from "@vestibule/contracts/statements";

import { Decided, eventually, inTurn } from "./eventually.ts";

const TIMEOUT_MS = 30_000;

export interface Answer<Body = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
  readonly text: string;
}

export interface Place {
  readonly number: number;
  readonly visitor: string;
  readonly ticket: string;
}

export interface Pass {
  readonly admission: string;
  readonly visitor: string;
}

export interface Claimed extends Pass {
  readonly number: number;
  readonly opensAt: number;
  readonly closesAt: number;
}

export interface SendOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
}

/** A visitor's secret: 256 bits. */
export function newVisitor(): string {
  return randomBytes(32).toString("base64url");
}

/** Follows no redirect and keeps no cookie. A body that is no JSON is `{}`. */
export async function send<Body = Record<string, unknown>>(
  url: string,
  { method = "GET", headers = {}, json }: SendOptions = {},
): Promise<Answer<Body>> {
  const answer = await fetch(url, {
    method,
    redirect: "manual",
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: { ...(json === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: parsed(text) as Body, text };
}

/** The `code` of a problem document, or the status when it is none. */
export function problemOf({ status, body }: Answer<unknown>): string {
  const { type } = (body ?? {}) as { type?: unknown };
  return typeof type === "string" ? type.replace(PROBLEM_TYPE_PREFIX, "") : String(status);
}

/** A purchase, at the edge or at the purchase API itself. */
export async function buy(
  url: string,
  { admission, visitor }: Pass,
  options: { key: string; sku: string; quantity?: number },
): Promise<Answer<PurchaseAnswer>> {
  const { key, sku, quantity = 1 } = options;
  return send(url, {
    method: "POST",
    headers: {
      [ADMISSION_HEADER]: admission,
      [VISITOR_HEADER]: visitor,
      [IDEMPOTENCY_KEY_HEADER]: key,
    },
    json: { sku, quantity },
  });
}

/** One event as an app sees it through one edge. */
export class App {
  readonly event: string;
  readonly edge: string;

  /** @param edge its address; the literal one saves looking `localhost` up. */
  constructor(edge: string, event: string) {
    this.edge = edge.replace("localhost", "127.0.0.1");
    this.event = event;
  }

  endpoint(name: string): string {
    return `${this.edge}${EDGE_PREFIX}/events/${this.event}/${name}`;
  }

  /** Until this edge has learnt of the event, which was just opened. */
  async known(): Promise<this> {
    await eventually(`the edge knows ${this.event}`, async () => (await this.tryDrip()) ?? false);
    return this;
  }

  tryJoin(shown: { visitor?: string; ticket?: string } = {}): Promise<Answer<EdgeJoinAnswer>> {
    return send(this.endpoint("tickets"), {
      method: "POST",
      headers: {
        [MODE_HEADER]: "token",
        ...(shown.visitor === undefined ? {} : { [VISITOR_HEADER]: shown.visitor }),
        ...(shown.ticket === undefined ? {} : { [TICKET_HEADER]: shown.ticket }),
      },
      json: {},
    });
  }

  /** Asks again, as the same visitor, while it is told to come back. @throws Error when it is refused. */
  async join(shown: { visitor?: string; ticket?: string } = {}): Promise<Place> {
    const visitor = shown.visitor ?? newVisitor();
    const { body } = await eventually("a place in line", async () => {
      const answer = await this.tryJoin({ ...shown, visitor });
      if (answer.status === 503) return undefined;
      if (answer.status > 201) throw new Decided(`join: ${answer.status} ${answer.text}`);
      return answer;
    });
    return { number: body.number, visitor, ticket: body.ticket ?? "" };
  }

  /** So many different visitors, so many at the same time. */
  joinAll(count: number, atOnce = 25): Promise<readonly Place[]> {
    return inTurn(Array.from({ length: count }), atOnce, () => this.join());
  }

  async tryDrip(): Promise<DripView | undefined> {
    const answer = await send<DripView>(this.endpoint("drip"));
    return answer.status === 200 ? answer.body : undefined;
  }

  /** @throws Error when there is none. */
  async drip(): Promise<DripView> {
    const view = await this.tryDrip();
    if (view === undefined) throw new Error("no drip");
    return view;
  }

  async me({ visitor, ticket }: Place): Promise<EdgePlace> {
    const headers = { [VISITOR_HEADER]: visitor, [TICKET_HEADER]: ticket };
    const answer = await send<EdgePlace>(this.endpoint("me"), { headers });
    if (answer.status !== 200) throw new Error(`me: ${answer.status} ${answer.text}`);
    return answer.body;
  }

  tryClaim({ visitor, ticket }: Omit<Place, "number">): Promise<Answer<EdgeClaimAnswer>> {
    return send(this.endpoint("admissions"), {
      method: "POST",
      headers: { [MODE_HEADER]: "token", [VISITOR_HEADER]: visitor, [TICKET_HEADER]: ticket },
      json: {},
    });
  }

  /** Asks until the slot is committed. */
  async claim(place: Place, withinMs = 60_000): Promise<Claimed> {
    const { body } = await eventually(
      `a claim for number ${place.number} of ${this.event}`,
      async () => {
        const answer = await this.tryClaim(place);
        if (answer.status === 201) return answer;
        if ([425, 503].includes(answer.status)) return undefined;
        throw new Decided(`claim: ${answer.status} ${answer.text}`);
      },
      { withinMs, everyMs: 150 },
    );
    const { opensAt, closesAt, admission = "" } = body;
    return { number: place.number, visitor: place.visitor, opensAt, closesAt, admission };
  }

  /** 200: the shop answered; 429: the waiting room did. */
  async enter({ admission, visitor }: Pass): Promise<number> {
    const { status } = await send(`${this.edge}/events/${this.event}`, {
      headers: {
        Accept: "application/json, text/html;q=0.5",
        [ADMISSION_HEADER]: admission,
        [VISITOR_HEADER]: visitor,
      },
    });
    return status;
  }

  /** Tries until the shop answers. */
  async enterWhenOpen(pass: Claimed, withinMs = 60_000): Promise<void> {
    await eventually(`number ${pass.number} enters`, async () => (await this.enter(pass)) === 200, {
      withinMs,
      everyMs: 100,
    });
  }

  buy(pass: Pass, options: { key: string; sku: string; quantity?: number }) {
    return buy(this.endpoint("purchases"), pass, options);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return {};
  }
}

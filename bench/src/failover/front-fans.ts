/** Fans at the front of a busy line: each claims when the slot is committed, and enters when it opens, as a page does. */
import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";

import type { EdgeClaimAnswer, EdgeJoinAnswer } from "@vestibule/contracts/line-api";
import {
  ADMISSION_HEADER,
  EDGE_PREFIX,
  MODE_HEADER,
  TICKET_HEADER,
  VISITOR_HEADER,
} from "@vestibule/contracts/names";
import type { DripView } from "@vestibule/contracts/statements";

import { ORIGIN_BODY } from "../floors/origin.ts";
import { EVENT } from "../mint-candidate.ts";
import type { FrontWorld } from "./front-world.ts";

const JOINS_AT_ONCE = 32;
const LOOK_EVERY_MS = 250;
const ENTER_AGAIN_MS = 20;
const JOIN_EVERY_MS = 100;

interface Fan {
  readonly number: number;
  readonly visitor: string;
  readonly ticket: string;
}

/** Epoch milliseconds. */
export interface Entry {
  readonly number: number;
  readonly opensAt: number;
  readonly enteredAt: number;
  /** How often the edge was asked: once, unless it did not let them in at their time. */
  readonly asks: number;
}

/** A join that was refused, or given; when it was asked for. */
export interface LateJoin {
  readonly askedAt: number;
  readonly status: number;
}

const endpoint = (name: string): string => `${EDGE_PREFIX}/events/${EVENT}/${name}`;

export class FrontFans {
  readonly entries: Entry[] = [];
  readonly joins: LateJoin[] = [];
  readonly #world: FrontWorld;
  readonly #waiting = new Map<number, Fan>();
  #running: Promise<unknown>[] = [];
  #isOver = false;

  constructor(world: FrontWorld) {
    this.#world = world;
  }

  /** So many join. */
  async join(count: number): Promise<void> {
    let left = count;
    const joining = async (): Promise<void> => {
      while ((left -= 1) >= 0) {
        const visitor = randomBytes(32).toString("base64url");
        const { status, body } = await this.#post("tickets", { [VISITOR_HEADER]: visitor });
        if (status !== 201) throw new Error(`a join got ${status}: ${body}`);
        const { number, ticket = "" } = JSON.parse(body) as EdgeJoinAnswer;
        this.#waiting.set(number, { number, visitor, ticket });
      }
    };
    await Promise.all(Array.from({ length: JOINS_AT_ONCE }, joining));
  }

  /** From here on they look, claim and enter, and somebody joins ten times a second. */
  start(): void {
    this.#running = [this.#look(), this.#joinOn()];
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }

  async #look(): Promise<void> {
    const claiming = new Set<number>();
    while (!this.#isOver) {
      const { status, body } = await this.#world.edge(endpoint("drip"));
      const committed = status === 200 ? (JSON.parse(body) as DripView).committed : 0;
      for (const fan of this.#waiting.values()) {
        if (fan.number > committed || claiming.has(fan.number)) continue;
        claiming.add(fan.number);
        this.#running.push(this.#claim(fan).finally(() => claiming.delete(fan.number)));
      }
      await wait(LOOK_EVERY_MS);
    }
  }

  /** Once; the next look tries again. */
  async #claim(fan: Fan): Promise<void> {
    const { visitor, ticket, number } = fan;
    const credentials = { [VISITOR_HEADER]: visitor, [TICKET_HEADER]: ticket };
    const { status, body } = await this.#post("admissions", credentials);
    if (status !== 201) return;
    this.#waiting.delete(number);
    const { opensAt, admission = "" } = JSON.parse(body) as EdgeClaimAnswer;
    this.#running.push(this.#enter(fan, { opensAt, admission }));
  }

  async #enter(fan: Fan, slot: { opensAt: number; admission: string }): Promise<void> {
    const { number, visitor } = fan;
    const { opensAt, admission } = slot;
    await wait(Math.max(0, opensAt - Date.now()));
    for (let asks = 1; !this.#isOver; asks += 1) {
      const { body } = await this.#world.edge(`/events/${EVENT}/seats`, {
        headers: {
          Accept: "application/json, text/html;q=0.5",
          [ADMISSION_HEADER]: admission,
          [VISITOR_HEADER]: visitor,
        },
      });
      if (body === ORIGIN_BODY) {
        this.entries.push({ number, opensAt, enteredAt: Date.now(), asks });
        return;
      }
      await wait(ENTER_AGAIN_MS);
    }
  }

  async #joinOn(): Promise<void> {
    while (!this.#isOver) {
      const askedAt = Date.now();
      const visitor = randomBytes(32).toString("base64url");
      const join = this.#post("tickets", { [VISITOR_HEADER]: visitor });
      this.#running.push(join.then(({ status }) => void this.joins.push({ askedAt, status })));
      await wait(JOIN_EVERY_MS);
    }
  }

  #post(name: string, headers: Readonly<Record<string, string>>) {
    const options = { method: "POST", headers: { [MODE_HEADER]: "token", ...headers } };
    return this.#world.edge(endpoint(name), options);
  }
}

import { join } from "node:path";

import type { Processes } from "../processes.ts";
import type { Answer, FromShoppers, ToShoppers } from "./shopper-messages.ts";

export interface Shopped {
  readonly elapsedMs: number;
  readonly answers: readonly Answer[];
}

/** The rows' end of the crowd. One order at a time. */
export class Shoppers {
  readonly pid: number;
  readonly #ask: (order: ToShoppers) => Promise<FromShoppers>;

  private constructor(pid: number, ask: (order: ToShoppers) => Promise<FromShoppers>) {
    this.pid = pid;
    this.#ask = ask;
  }

  static start(processes: Processes): Shoppers {
    const child = processes.node("shoppers", join(import.meta.dirname, "shoppers.ts"));
    return new Shoppers(child.pid, async (order) => (await child.ask(order)) as FromShoppers);
  }

  /** Opens lanes, in turn to these ports. Replaces those that there were. */
  connect(ports: readonly number[], lanes: number): Promise<void> {
    return this.#ready({ type: "connect", ports, lanes });
  }

  rush(order: Omit<Extract<ToShoppers, { type: "rush" }>, "type">): Promise<Shopped> {
    return this.#answers({ type: "rush", ...order });
  }

  hammer(order: Omit<Extract<ToShoppers, { type: "hammer" }>, "type">): Promise<Shopped> {
    return this.#answers({ type: "hammer", ...order });
  }

  /** Goes on until `halt`. */
  pace(order: Omit<Extract<ToShoppers, { type: "pace" }>, "type">): Promise<void> {
    return this.#ready({ type: "pace", ...order });
  }

  halt(): Promise<Shopped> {
    return this.#answers({ type: "halt" });
  }

  async #ready(order: ToShoppers): Promise<void> {
    const answer = await this.#ask(order);
    if (answer.type === "failed") throw new Error(answer.message);
  }

  async #answers(order: ToShoppers): Promise<Shopped> {
    const answer = await this.#ask(order);
    if (answer.type === "answers") return answer;
    throw new Error(answer.type === "failed" ? answer.message : "no answer");
  }
}

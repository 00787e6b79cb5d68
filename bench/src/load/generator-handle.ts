import { join } from "node:path";

import type { Processes } from "../processes.ts";
import type { AnswerPlan, FromGenerator, RequestPlan, Sample, ToGenerator } from "./messages.ts";

export interface Fired {
  readonly elapsedMs: number;
  readonly samples: readonly Sample[];
}

/** The bench's end of the load generator. One order at a time. */
export class Generator {
  readonly pid: number;
  readonly #ask: (order: ToGenerator) => Promise<FromGenerator>;

  private constructor(pid: number, ask: (order: ToGenerator) => Promise<FromGenerator>) {
    this.pid = pid;
    this.#ask = ask;
  }

  static start(processes: Processes): Generator {
    const child = processes.node("load generator", join(import.meta.dirname, "generator.ts"));
    return new Generator(child.pid, async (order) => (await child.ask(order)) as FromGenerator);
  }

  /** Opens connections to one side and says what to send and what to expect. Replaces what was there. */
  async prepare(order: {
    readonly side: string;
    readonly port: number;
    readonly connections: number;
    readonly requests: RequestPlan;
    readonly answers: AnswerPlan;
  }): Promise<void> {
    const answer = await this.#ask({ type: "prepare", ...order });
    if (answer.type === "failed") throw new Error(`${order.side}: ${answer.message}`);
  }

  /**
   * Sends `count` requests and waits for every answer.
   *
   * @throws Error at the first wrong answer.
   */
  async fire(side: string, count: number): Promise<Fired> {
    const answer = await this.#ask({ type: "fire", side, count });
    if (answer.type === "fired") return answer;
    throw new Error(`${side}: ${answer.type === "failed" ? answer.message : "no answer"}`);
  }

  /**
   * Sends `count` requests by the clock, whatever becomes of earlier ones, and waits for every answer.
   *
   * @throws Error at the first wrong answer.
   */
  async pace(
    side: string,
    { count, perSecond }: { readonly count: number; readonly perSecond: number },
  ): Promise<Extract<FromGenerator, { type: "paced" }>> {
    const answer = await this.#ask({ type: "pace", side, count, perSecond });
    if (answer.type === "paced") return answer;
    throw new Error(`${side}: ${answer.type === "failed" ? answer.message : "no answer"}`);
  }
}

/** One fan with an app, at any of the locations: joins, waits, claims, enters and buys, and does not give up. */
import { setTimeout as sleep } from "node:timers/promises";

import { slotOf } from "@vestibule/drip/line";
import type { SeededRandomness } from "@vestibule/testkit/seeded-randomness";

import {
  type Answer,
  type App,
  type Claimed,
  type Pass,
  type Place,
  problemOf,
} from "../../e2e/support/app.ts";
import { claimsOf, headerOf } from "../../e2e/support/token-parts.ts";
import type { Ending, Trace } from "../trace.ts";
import { forged } from "./forged.ts";
import type { Watcher } from "./watcher.ts";

export interface Location {
  readonly name: string;
  readonly app: App;
  readonly drip: Watcher;
}

export interface FanOptions {
  readonly name: string;
  readonly locations: readonly Location[];
  readonly trace: Trace;
  readonly random: SeededRandomness;
  /** What is bought: first something of which there is little, for those who like it, then this. */
  readonly skus: { readonly scarce: string; readonly plenty: string };
  /** Asked again and again: nobody waits beyond it. Epoch milliseconds. */
  readonly patience: () => number;
}

/** Percent of the fans who … */
const LEAVES = 8;
const SHOWS_TICKET_AGAIN = 30;
const WANTS_THE_SCARCE = 40;
const ASKS_TWICE_AT_ONCE = 25;
const IS_GREEDY = 25;
const IS_A_THIEF = 20;
const REJOINS_MAX = 5;

type Turn =
  | { readonly pass: Claimed; readonly jti: string }
  | "missed"
  | "told-why"
  | "still-waits";

export class Fan {
  readonly #options: FanOptions;
  readonly #visitor: string;
  #place: Place | undefined;
  #why = "";

  constructor(options: FanOptions) {
    this.#options = options;
    this.#visitor = Buffer.from(options.random.bytes(32)).toString("base64url");
  }

  async run(): Promise<void> {
    const { name, trace } = this.#options;
    const ending = await this.#live();
    trace.endings.push({ fan: `${name} (number ${this.#place?.number})`, ending, why: this.#why });
  }

  async #live(): Promise<Ending> {
    const { random } = this.#options;
    const leaves = random.chance(LEAVES);
    for (let round = 0; round < REJOINS_MAX; round += 1) {
      // Whoever missed their turn shows the old ticket, and gets a new place at the end.
      const place = await this.#join();
      if (place === undefined) return this.#why === "" ? "still-waits" : "told-why";
      if (leaves) return "left";
      const turn = await this.#turn(place);
      if (turn === "missed") continue;
      if (typeof turn === "string") return turn;
      await this.#enter(turn.pass);
      return this.#buy(turn.pass, turn.jti);
    }
    this.#why = "missed every turn";
    return "told-why";
  }

  async #join(): Promise<Place | undefined> {
    while (this.#mayWait()) {
      const joined = await this.#tryJoin();
      if (joined !== undefined) return joined;
      if (this.#why !== "") return undefined;
      await this.#pause();
    }
    return undefined;
  }

  /** Also when there is a place already: it must stay the same. */
  async #tryJoin(): Promise<Place | undefined> {
    const { trace } = this.#options;
    const shown = this.#place;
    const askedAt = Date.now();
    const answer = await this.#ask("join", ({ app }) =>
      app.tryJoin({ visitor: this.#visitor, ...(shown && { ticket: shown.ticket }) }),
    );
    if (answer === undefined) return undefined;
    if (answer.status > 201) {
      if (answer.status === 410 || answer.status === 409) this.#why = problemOf(answer);
      return undefined;
    }
    const { number, ticket = "" } = answer.body;
    const { n, sub } = claimsOf(ticket);
    trace.joined.push({
      askedAt,
      at: Date.now(),
      visitor: this.#visitor,
      number,
      ticketNumber: Number(n),
      holder: String(sub),
      shown: shown?.number,
    });
    this.#place = { number, ticket, visitor: this.#visitor };
    return this.#place;
  }

  /** Until the slot is committed and claimed. */
  async #turn(place: Place): Promise<Turn> {
    const { random, trace } = this.#options;
    let showsAgain = random.chance(SHOWS_TICKET_AGAIN);
    while (this.#mayWait()) {
      await this.#pause();
      if (showsAgain && random.chance(20)) {
        showsAgain = false;
        const again = await this.#tryJoin();
        if (again !== undefined && again.number !== place.number) return "missed";
      }
      if (!this.#seesATurn(place.number)) continue;
      const askedAt = Date.now();
      const answer = await this.#ask("claim", ({ app }) => app.tryClaim(place));
      if (answer === undefined) continue;
      if (answer.status === 201) {
        const { opensAt, closesAt, admission = "" } = answer.body;
        const { number } = place;
        const jti = String(claimsOf(admission)["jti"]);
        const times = { opensAt, closesAt };
        const visitor = this.#visitor;
        const signed = { jti, kid: String(headerOf(admission)["kid"]) };
        trace.claimed.push({ askedAt, at: Date.now(), visitor, number, ...signed, ...times });
        return { pass: { number, visitor, admission, ...times }, jti };
      }
      if (problemOf(answer) === "slot-over") return "missed";
      if (answer.status === 410 || answer.status === 409) {
        this.#why = problemOf(answer);
        return "told-why";
      }
    }
    return "still-waits";
  }

  /** A slot in what some location shows; or the line has passed, and what became of it is the mint's to say. */
  #seesATurn(number: number): boolean {
    return this.#options.locations.some(({ drip: { view } }) => {
      if (view === undefined) return false;
      return slotOf(view.segments, number) !== undefined || number <= view.committed;
    });
  }

  /** At every location, as soon as it opens. */
  async #enter(pass: Claimed): Promise<void> {
    const { locations, random } = this.#options;
    await sleep(Math.max(0, pass.opensAt - Date.now()));
    await Promise.all(locations.map((location) => this.#show(location, pass, false)));
    if (!random.chance(IS_A_THIEF)) return;
    const { admission } = pass;
    const stolen = { ...pass, visitor: Buffer.from(random.bytes(32)).toString("base64url") };
    const changed = { ...pass, admission: forged(admission, random) };
    await this.#show(random.pick(locations), random.pick([stolen, changed]), true);
  }

  async #show({ name, app }: Location, pass: Claimed, isForged: boolean): Promise<void> {
    const { trace } = this.#options;
    const { number, opensAt, closesAt } = pass;
    while (Date.now() < closesAt && this.#mayWait()) {
      const askedAt = Date.now();
      const status = await app.enter(pass).catch(() => undefined);
      trace.count(`enter ${status ?? "nothing"}`);
      if (status !== undefined) {
        const at = Date.now();
        const shown = { edge: name, number, opensAt, closesAt, forged: isForged, status };
        trace.entered.push({ askedAt, at, ...shown });
        return;
      }
      await this.#pause();
    }
  }

  async #buy(pass: Claimed, jti: string): Promise<Ending> {
    const { random, skus } = this.#options;
    const wishes = random.chance(WANTS_THE_SCARCE) ? [skus.scarce, skus.plenty] : [skus.plenty];
    for (const sku of wishes) {
      const order = { key: this.#newKey(), sku, quantity: random.pick([1, 1, 1, 2]) };
      const answer = await this.#buyOne(pass, jti, order);
      if (answer === "sold-out") continue;
      if (answer === undefined) return "could-not-buy";
      if (random.chance(IS_GREEDY)) {
        // Once more with the same key: the same order. With another one: the admission is spent.
        await this.#order(pass, jti, order);
        await this.#order(pass, jti, { ...order, key: this.#newKey() });
      }
      return "bought";
    }
    this.#why = "sold-out";
    return "told-why";
  }

  #newKey(): string {
    return Buffer.from(this.#options.random.bytes(16)).toString("base64url");
  }

  /** With one key until it is decided: an order's name, `sold-out`, or `undefined` when the time ran out. */
  async #buyOne(
    pass: Claimed,
    jti: string,
    order: { key: string; sku: string; quantity: number },
  ): Promise<string | undefined> {
    const { random } = this.#options;
    const atOnce = random.chance(ASKS_TWICE_AT_ONCE) ? 2 : 1;
    while (Date.now() < pass.closesAt && this.#mayWait()) {
      const answers = await Promise.all(
        Array.from({ length: atOnce }, () => this.#order(pass, jti, order)),
      );
      const orderId = answers.find((answer) => answer?.orderId !== undefined)?.orderId;
      if (orderId !== undefined) return orderId;
      const codes = answers.map((answer) => answer?.code);
      if (codes.every((code) => code === "sold-out")) return "sold-out";
      this.#why = `the last answers to the purchase were ${codes.join(", ")}`;
      await sleep(random.integer({ min: 500, max: 1_200 }));
    }
    return undefined;
  }

  async #order(
    pass: Pass & { number: number },
    jti: string,
    order: { key: string; sku: string; quantity: number },
  ): Promise<{ orderId: string | undefined; code: string } | undefined> {
    const { trace } = this.#options;
    const askedAt = Date.now();
    const answer = await this.#ask("buy", ({ app }) => app.buy(pass, order));
    if (answer === undefined) return undefined;
    const { status } = answer;
    const orderId = status === 201 ? answer.body.orderId : undefined;
    const code = problemOf(answer);
    const { number } = pass;
    trace.bought.push({ askedAt, at: Date.now(), number, jti, ...order, status, code, orderId });
    return { orderId, code };
  }

  /** At some location. `undefined` when there was no answer. */
  async #ask<Body>(
    what: string,
    ask: (location: Location) => Promise<Answer<Body>>,
  ): Promise<Answer<Body> | undefined> {
    const { locations, random, trace } = this.#options;
    try {
      const answer = await ask(random.pick(locations));
      trace.count(`${what} ${problemOf(answer)}`);
      return answer;
    } catch {
      trace.count(`${what} nothing`);
      return undefined;
    }
  }

  #mayWait(): boolean {
    return Date.now() < this.#options.patience();
  }

  async #pause(): Promise<void> {
    await sleep(this.#options.random.integer({ min: 150, max: 450 }));
  }
}

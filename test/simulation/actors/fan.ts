/**
 * A fan with a browser: tabs that share one cookie jar, and look, claim and move in as the holding page does: the real
 * view of the drip, the real poll schedule, and the delays of `packages/client/src/waiting.ts`.
 */
import { opensForJoins, type View, viewOf } from "@vestibule/client/view";
import type { DripView, ManifestEvent } from "@vestibule/contracts/statements";
import { pollDelayMs } from "@vestibule/drip/poll";
import { claimWindowMs } from "@vestibule/drip/slot";
import type { Credentials } from "@vestibule/edge/src/admission/credentials.ts";
import type { SeededRandomness } from "@vestibule/testkit/seeded-randomness";
import type { Machine } from "../world/machine.ts";
import type { Network } from "../world/network.ts";
import type { EdgeAnswer, Isolate, Location } from "./location.ts";

const DEADLINE_MS = 10_000;
const CLAIM_NEAR_MS = 8_000;
const RETRY_MS = 1_500;
const RETRY_DOUBLINGS_MAX = 5;
const OVER_RETRY_MS = 30_000;
const SHUT_SOONEST_MS = 300_000;
const NEWCOMER_LOOKS = 8;
const NEWCOMER_LOOK_MS = 250;
const NEWCOMER_ETA_MS = 2_000;
/** Between two presses of "join again". */
const PRESS_MS = 8_000;
const REFUSED_LOOK_MS = 2_000;
const HAS_TURN: ReadonlySet<View["state"]> = new Set(["known", "turn", "confirm"]);
const PASSED: ReadonlySet<View["state"]> = new Set(["passed", "owed", "missed"]);

/** How a fan's waiting has ended; `undefined`: not yet. */
export type Ending = "admitted" | "missed" | "sold-out" | "ended" | "left";

/** What a fan tells whoever watches. */
export interface FanWatch {
  /** A number is shown, first or anew; `ticket`: what was shown for it, if anything. */
  numbered(fan: Fan, number: number): void;
  served(fan: Fan, tab: number, view: View): void;
  claimed(fan: Fan, admission: string): void;
  presented(fan: Fan, admission: string, verdict: "admitted" | "refused" | "unknown"): void;
  admitted(fan: Fan, admission: string): void;
  /** Has said that they are there: this place is claimed with it. */
  pressed(fan: Fan, number: number): void;
}

export interface FanParts {
  readonly name: string;
  readonly visitor: string;
  readonly machine: Machine;
  readonly network: Network;
  readonly random: SeededRandomness;
  readonly locations: readonly Location[];
  readonly about: () => ManifestEvent;
  readonly watch: FanWatch;
  readonly tabs: number;
  /** Looks away from all tabs for good after this long; `undefined`: stays. */
  readonly leavesAfterMs: number | undefined;
  /** Joins again when the turn was missed. */
  readonly isPatient: boolean;
  /** Asked whether they are there: how long until they press, at most; `undefined`: nobody sits there. */
  readonly pressesWithinMs: number | undefined;
  /** A page that answers in its fan's place: a canary. */
  readonly isPressedByPage: boolean;
}

export class Fan {
  readonly name: string;
  readonly visitor: string;
  ticket: string | undefined;
  number: number | undefined;
  admission: string | undefined;
  ending: Ending | undefined;
  readonly parts: FanParts;
  readonly #tabs: Tab[];

  constructor(parts: FanParts) {
    this.parts = parts;
    this.name = parts.name;
    this.visitor = parts.visitor;
    this.#tabs = Array.from({ length: parts.tabs }, (_, index) => new Tab(this, index));
  }

  get credentials(): Credentials {
    const { visitor, ticket, admission } = this;
    return { visitor, ticket, admission, tokenMode: false, byCookie: true };
  }

  start(): void {
    const { machine, random, leavesAfterMs } = this.parts;
    for (const tab of this.#tabs)
      machine.after(random.integer({ min: 0, max: 400 }), () => tab.start());
    if (leavesAfterMs !== undefined) machine.after(leavesAfterMs, () => this.end("left"));
  }

  /** The last word of the mint about this fan. */
  end(ending: Ending): void {
    this.ending ??= ending;
    for (const tab of this.#tabs) tab.close();
  }

  /** The page in front of everybody: a network that came back, a device that woke up. */
  wake(): void {
    if (this.ending === undefined) for (const tab of this.#tabs) tab.look();
  }

  /** What a tab of theirs shows. */
  says(state: View["state"]): boolean {
    return this.ending === undefined && this.#tabs.some((tab) => tab.state === state);
  }

  toString(): string {
    return `${this.name} ${this.number ?? "-"} ${this.ending ?? this.#tabs.map((tab) => tab.state).join("/")}`;
  }
}

type Task = "poll" | "join" | "claim" | "enter" | "press";

class Tab {
  state: View["state"] = "joining";
  readonly #fan: Fan;
  readonly #index: number;
  readonly #timers = new Map<Task, () => void>();
  readonly #busy = new Set<Task>();
  #location: Location;
  #drip: DripView | undefined;
  #number: number | undefined;
  #claimed: { readonly opensAt: number; readonly closesAt: number } | undefined;
  #saidFor: number | undefined;
  #missed = false;
  #lapsed = false;
  #owed = false;
  #failures = 0;
  #advisedMs = 0;
  #lookNow = false;
  #lookSoon = false;
  #quickLooks = 0;
  #plannedFor: number | undefined;
  /** Mint minus device, learned from statements. */
  #offsetMs = -Infinity;
  #isClosed = false;

  constructor(fan: Fan, index: number) {
    this.#fan = fan;
    this.#index = index;
    this.#location = fan.parts.random.pick(fan.parts.locations);
  }

  start(): void {
    if (this.#isClosed) return;
    this.#number = this.#fan.number;
    this.#later("poll", 0, () => this.#poll());
  }

  look(): void {
    if (!this.#isClosed) this.#later("poll", 0, () => this.#poll());
  }

  close(): void {
    this.#isClosed = true;
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  #now(): number {
    const { machine } = this.#fan.parts;
    return machine.clock.now() + (this.#offsetMs === -Infinity ? 0 : this.#offsetMs);
  }

  #view(): View {
    const view = viewOf({
      settings: this.#fan.parts.about(),
      now: this.#now(),
      number: this.#number,
      drip: this.#drip,
      missed: this.#missed,
      lapsed: this.#lapsed,
      owed: this.#owed,
      claimed: this.#claimed,
      saidFor: this.#saidFor,
    });
    const hasSlot = HAS_TURN.has(view.state);
    if (hasSlot) this.#owed = false;
    this.#lapsed = !hasSlot && (this.#lapsed || view.isLost);
    this.state = view.state;
    return view;
  }

  async #ask<Body>(
    work: (isolate: Isolate) => Promise<EdgeAnswer<Body>>,
  ): Promise<EdgeAnswer<Body>> {
    const { network, machine, random, locations } = this.#fan.parts;
    // A network that changes places, now and then.
    if (random.chance(2)) this.#location = random.pick(locations);
    const location = this.#location;
    const outcome = await network.call({
      ...{ from: machine, to: () => location.machine, deadlineMs: DEADLINE_MS },
      link: `fans>${location.machine.name}`,
      serve: () => work(location.any()),
    });
    return outcome.kind === "answer" ? outcome.answer : { ok: false, status: 0, retryAfterMs: 0 };
  }

  #poll(): Promise<void> {
    return this.#do("poll", async () => {
      const reply = await this.#ask((isolate) => isolate.drip());
      if (!reply.ok) {
        this.#failed(reply.retryAfterMs);
        return;
      }
      this.#failures = this.#advisedMs = 0;
      if (this.#drip === undefined || reply.body.seq >= this.#drip.seq) this.#drip = reply.body;
      const bound = this.#drip.at - this.#fan.parts.machine.clock.now();
      this.#offsetMs = Math.max(this.#offsetMs, bound);
      this.#checkClaim();
    });
  }

  #checkClaim(): void {
    if (this.#claimed === undefined || this.#drip === undefined) return;
    const { opensAt } = this.#claimed;
    const slot = this.#view().slot;
    const isHeld = this.#drip.heldSince !== undefined && opensAt > this.#drip.heldSince;
    if (isHeld || (slot !== undefined && slot.opensAt !== opensAt)) this.#claimed = undefined;
  }

  #join(): Promise<void> {
    return this.#do("join", async () => {
      const fan = this.#fan;
      const shown = fan.credentials;
      const reply = await this.#ask((isolate) => isolate.join(shown));
      if (!reply.ok) {
        if (reply.status === 410 || reply.status === 409) this.#told(reply.status);
        else this.#failed(reply.retryAfterMs);
        return;
      }
      this.#failures = this.#advisedMs = 0;
      const { number, ticket } = reply.body;
      // The cookie jar is one for all tabs: the answer that came last stands.
      fan.ticket = ticket;
      if (fan.number !== number) fan.admission = undefined;
      fan.number = number;
      this.#missed = this.#lapsed = this.#owed = false;
      if (number !== this.#number) {
        this.#claimed = undefined;
        this.#quickLooks = NEWCOMER_LOOKS;
      }
      this.#number = number;
      this.#lookNow = true;
      fan.parts.watch.numbered(fan, number);
    });
  }

  /** Nobody joins any more, as far as is known. */
  #told(status: number): void {
    this.#failures += 1;
    this.#advisedMs = OVER_RETRY_MS;
    this.#lookSoon = status === 409;
    if (status === 410) this.#fan.end("ended");
  }

  #claim(): Promise<void> {
    return this.#do("claim", async () => {
      const fan = this.#fan;
      const shown = fan.credentials;
      const { said } = this.#view();
      // The place that is in the cookie jar is the one that is claimed.
      const { number } = fan;
      if (said && !fan.parts.isPressedByPage && number !== undefined) {
        fan.parts.watch.pressed(fan, number);
      }
      const reply = await this.#ask((isolate) => isolate.claim(shown, said));
      if (reply.ok) {
        this.#failures = this.#advisedMs = 0;
        this.#claimed = reply.body;
        fan.admission = reply.body.admission;
        fan.parts.watch.claimed(fan, reply.body.admission);
      } else if (reply.status === 410) {
        this.#missed = true;
        this.#owed = false;
      } else if (reply.status === 403) this.#number = undefined;
      else if (reply.status === 425) {
        this.#advisedMs = Math.max(reply.retryAfterMs, RETRY_MS);
        if (this.#isPassed()) {
          this.#lookNow ||= !this.#owed;
          this.#owed = true;
          this.#lapsed = false;
        }
      } else if (reply.status === 409) {
        this.#advisedMs = OVER_RETRY_MS;
        this.#lookSoon = true;
      } else this.#failed(reply.retryAfterMs);
    });
  }

  #enter(): Promise<void> {
    return this.#do("enter", async () => {
      const fan = this.#fan;
      const { admission } = fan;
      if (admission === undefined) return;
      const shown = fan.credentials;
      const reply = await this.#ask(async (isolate) => ({
        ok: true,
        body: await isolate.enter(shown),
      }));
      const verdict = reply.ok ? reply.body : "unknown";
      fan.parts.watch.presented(fan, admission, verdict);
      if (verdict === "admitted") {
        fan.parts.watch.admitted(fan, admission);
        fan.end("admitted");
        return;
      }
      this.#claimed = undefined;
      this.#failed(RETRY_MS);
    });
  }

  async #do(task: Task, work: () => Promise<void>): Promise<void> {
    if (this.#busy.has(task) || this.#isClosed) return;
    this.#busy.add(task);
    await work().finally(() => this.#busy.delete(task));
    if (this.#isClosed) return;
    const view = this.#view();
    this.#fan.parts.watch.served(this.#fan, this.#index, view);
    this.#lookForEnd(view);
    if (this.#isClosed) return;
    this.#planJoin(view);
    this.#planPress(view);
    this.#planClaim(this.#view());
    const urgent = this.#lookNow || this.#lookSoon;
    if (task !== "claim" || urgent || !this.#timers.has("poll")) this.#planPoll(view);
  }

  /** What the page says for good, and what its reader makes of it. */
  #lookForEnd({ state }: View): void {
    const fan = this.#fan;
    if (state === "ended") fan.end("ended");
    if (state !== "missed" || !this.#missed) return;
    if (!fan.parts.isPatient) {
      fan.end("missed");
      return;
    }
    // Presses "join again", now and then.
    if (!this.#timers.has("join"))
      this.#later("join", PRESS_MS + this.#spread(PRESS_MS), () => this.#join());
  }

  #failed(retryAfterMs: number): void {
    this.#failures += 1;
    this.#advisedMs = retryAfterMs;
  }

  #isPassed(): boolean {
    const { state, slot } = this.#view();
    return PASSED.has(state) && slot === undefined;
  }

  #planJoin({ isShut }: View): void {
    if (this.#number !== undefined || this.#timers.has("join")) return;
    const untilOpenMs = opensForJoins(this.#fan.parts.about()) - this.#now();
    if (untilOpenMs > 0) this.#later("join", untilOpenMs + this.#spread(1_500), () => this.#join());
    else if (!isShut)
      this.#later("join", this.#failures > 0 ? this.#retryMs() : 0, () => this.#join());
  }

  /** The fan, if anybody sits there, presses "I'm here". */
  #planPress({ slot, state, said }: View): void {
    const { parts } = this.#fan;
    const { pressesWithinMs, isPressedByPage } = parts;
    if (state !== "confirm" || said || slot === undefined) {
      this.#cancel("press");
      return;
    }
    if (isPressedByPage) this.#saidFor = this.#plannedFor = slot.opensAt;
    if (pressesWithinMs === undefined || this.#timers.has("press")) return;
    this.#later("press", 300 + this.#spread(pressesWithinMs), () => {
      this.#saidFor = this.#plannedFor = this.#view().slot?.opensAt;
      return this.#claim();
    });
  }

  #planClaim({ slot, state, said }: View): void {
    if (this.#number === undefined || this.#missed) return;
    if (this.#claimed !== undefined) {
      const untilOpenMs = this.#claimed.opensAt - this.#now();
      this.#later("enter", untilOpenMs + (untilOpenMs > 0 ? this.#spread(200) : 0), () =>
        this.#enter(),
      );
      return;
    }
    this.#cancel("enter");
    if (state === "confirm" && !said) {
      this.#cancel("claim");
      return;
    }
    const owed = this.#isPassed();
    const isOver = slot !== undefined && this.#now() >= slot.closesAt && state !== "missed";
    const isSet = this.#timers.has("claim");
    if ((slot === undefined || isOver) && !owed) this.#cancel("claim");
    else if (this.#failures > 0 || this.#advisedMs > 0 || slot === undefined) {
      if (!isSet) this.#later("claim", this.#retryMs(), () => this.#claim());
    } else if (!isSet || slot.opensAt !== this.#plannedFor) {
      const leftMs = said ? 0 : Math.max(0, slot.opensAt - this.#now() - CLAIM_NEAR_MS);
      this.#plannedFor = slot.opensAt;
      this.#later("claim", this.#spread(leftMs), () => this.#claim());
    }
  }

  #planPoll(view: View): void {
    if (!this.#busy.has("poll")) this.#later("poll", this.#pollDelayMs(view), () => this.#poll());
  }

  #pollDelayMs({ slot, eta, soonestMs, isLost, isShut, number }: View): number {
    if (this.#lookNow) {
      this.#lookNow = false;
      return 0;
    }
    if (this.#lookSoon) {
      this.#lookSoon = false;
      return REFUSED_LOOK_MS + this.#spread(REFUSED_LOOK_MS);
    }
    const mayBeNext = slot === undefined && (eta?.fromMs ?? Infinity) < NEWCOMER_ETA_MS;
    if (this.#quickLooks > 0 && mayBeNext && this.#failures === 0) {
      this.#quickLooks -= 1;
      return NEWCOMER_LOOK_MS / 2 + this.#spread(NEWCOMER_LOOK_MS);
    }
    return pollDelayMs({
      random: this.#spread(10_000) / 10_000,
      claimWindowMs: claimWindowMs(this.#fan.parts.about()),
      failures: this.#failures,
      advisedMs: this.#advisedMs,
      ...(slot === undefined ? {} : { untilTurnMs: slot.opensAt - this.#now() }),
      soonestMs: isLost || (isShut && number === undefined) ? SHUT_SOONEST_MS : soonestMs,
    });
  }

  #retryMs(): number {
    const backOffMs = RETRY_MS * 2 ** Math.min(this.#failures, RETRY_DOUBLINGS_MAX);
    return Math.max(this.#advisedMs, backOffMs) + this.#spread(RETRY_MS);
  }

  #spread(ms: number): number {
    return this.#fan.parts.random.integer({ min: 0, max: Math.max(0, Math.floor(ms) - 1) });
  }

  #later(task: Task, delayMs: number, work: () => Promise<void>): void {
    this.#cancel(task);
    const cancel = this.#fan.parts.machine.after(delayMs, () => {
      this.#timers.delete(task);
      void work();
    });
    this.#timers.set(task, cancel);
  }

  #cancel(task: Task): void {
    this.#timers.get(task)?.();
    this.#timers.delete(task);
  }
}

/**
 * The life of a place: joins, listens, claims and goes in. Everything it does follows from what it knows (`viewOf`);
 * timers only say when to look again, so whoever slept does each thing once.
 */
import type { EdgeJoinAnswer, ProofOfWork } from "@vestibule/contracts/line-api";
import { claimPlan } from "./claim-plan.ts";
import type { Device } from "./device.ts";
import type { LineClient, Proof, Reply } from "./line-client.ts";
import { Looks } from "./looks.ts";
import { type MintTime, createMintTime } from "./mint-time.ts";
import {
  CLOCK_JUMP_MS,
  FAULT_LOOK_MS,
  OPENING_SPREAD_MS,
  OVER_RETRY_MS,
  RETRY_MS,
} from "./pace.ts";
import { Place, type PlaceData } from "./place.ts";
import { type Task, Tasks } from "./tasks.ts";
import { Trouble } from "./trouble.ts";
import { type View, opensForJoins } from "./view.ts";

/** Whoever shows the place, and goes where it leads. */
export interface Shell {
  /** About once a second while somebody looks, and whenever there is news. `isNews`: false until anything is known but the start. */
  show(view: View, isNews: boolean): void;
  /** The turn is open and the admission in hand. False when it was tried too often in vain: it is not kept. */
  enter(): boolean;
  /**
   * Other tabs of the same visitor, who share place and admission, should know: `in` with the turn that opens at this moment
   * (`Waiting.stay`), or `place` with the number there is now, or none (`Waiting.isAt`; load them anew).
   */
  tell(what: "in" | "place", value?: number): void;
  /** Whoever was in before, and was kept out by a fault of ours, can go back. */
  goBack(): void;
}

export interface WaitingPorts {
  readonly device: Device;
  readonly line: LineClient;
  readonly shell: Shell;
  /** Does the work that an event may ask for before a place, as `prove` of `proof.ts`; absent: such events cannot be joined. */
  readonly prove?: ((work: ProofOfWork) => Promise<number>) | undefined;
}

export class Waiting {
  readonly #ports: WaitingPorts;
  readonly #place: Place;
  readonly #data: PlaceData;
  readonly #time: MintTime;
  readonly #tasks: Tasks;
  readonly #trouble = new Trouble();
  readonly #looks: Looks;
  #cookiesRefused = 0;
  #proof: Proof | undefined;
  /** The opening for which the claim is planned. */
  #plannedFor: number | undefined;
  /** Going in takes its time: by `Device.ticks`, not again before. */
  #enterNotBefore = 0;
  #clockGap: number;
  /** How often this device's clock has left its ticks. */
  #jumps = 0;

  /** `receivedAt`: when the first byte of the data arrived, by this device's clock. */
  constructor(data: PlaceData, receivedAt: number, ports: WaitingPorts) {
    this.#ports = ports;
    this.#place = new Place(data);
    this.#data = data;
    this.#time = createMintTime(data.now ?? receivedAt, receivedAt);
    if (data.now === undefined) this.#time.forget();
    this.#tasks = new Tasks(ports.device);
    this.#looks = new Looks(ports.device, this.#trouble);
    this.#clockGap = ports.device.now() - ports.device.ticks();
  }

  start(): void {
    this.#repaint();
    this.#planJoin();
    this.#tasks.later("poll", 0, () => this.#poll());
  }

  /** A press: join the line, or join it again. */
  join(): Promise<void> {
    this.#place.known.gone = false;
    return this.#join();
  }

  /** A press: give up the place, and take no other until the fan asks for one. */
  leave(): Promise<void> {
    return this.#do("leave", async () => {
      const reply = await this.#ports.line.leave();
      if (!reply.ok) {
        this.#failed(reply);
        return;
      }
      this.#heard();
      this.#place.leave();
      for (const task of ["join", "claim", "enter"] as const) this.#tasks.forget(task);
      this.#ports.shell.tell("place");
    });
  }

  /** A press: "I'm here". From now on this tries by itself. */
  confirm(): Promise<void> {
    this.#plannedFor = this.#place.confirm(this.#now());
    this.#repaint();
    return this.#claim();
  }

  /** A press: go in now. */
  async enter(): Promise<void> {
    this.#place.inside = undefined;
    if (this.#place.known.claimed === undefined) await this.#claim();
    else this.#enter();
  }

  /**
   * After sleep, a change of the clock, the back button or a lost network: one poll, at once. The time goes on as it is: what
   * comes may be a statement of minutes ago.
   */
  wake(): void {
    this.#tasks.later("poll", 0, () => this.#poll());
    this.#repaint();
  }

  /** The device has lost its network. */
  offline(): void {
    if (this.#place.known.condition !== "cookies") this.#place.known.condition = "offline";
    this.#repaint();
  }

  /** Another tab has gone in with this turn: here only a press leads there. */
  stay(opensAt: number): void {
    this.#place.inside = opensAt;
    this.#plan();
  }

  /** Whether this is the place here, too: of tabs opened together each is given it, and need not load anew for the others. */
  isAt(number: number): boolean {
    return this.#place.known.number === number;
  }

  /** By the mint's clock. */
  #now(): number {
    return this.#time.at(this.#ports.device.now());
  }

  #view(): View {
    return this.#place.view(this.#now(), this.#time.isSure);
  }

  #poll(): Promise<void> {
    return this.#do("poll", async () => {
      const jumps = this.#jumps;
      const reply = await this.#ports.line.drip();
      this.#watchClock();
      if (!reply.ok) {
        this.#failed(reply);
        return;
      }
      this.#heard();
      const drip = reply.body;
      // One that was on its way meanwhile tells nothing of the time.
      if (jumps === this.#jumps)
        this.#time.heard(Math.max(drip.at, this.#place.known.drip?.at ?? 0), reply.receivedAt);
      else this.#looks.atOnce();
      this.#place.heard(drip, this.#now());
      this.#heardFault(drip.fault);
    });
  }

  /** Of the location that has answered: only a poll tells. */
  #heardFault(fault: "clock" | undefined): void {
    const { device, shell } = this.#ports;
    // The time at hand may be that clock's, from before it was found: the next statement tells.
    if (fault !== undefined) this.#time.forget();
    if (this.#place.known.condition === "cookies") return;
    const goesBack = fault === undefined && this.#data.returns === true;
    this.#place.known.condition = goesBack ? "clock" : fault;
    if (!goesBack || this.#tasks.isSet("enter")) return;
    const inMs = (0.5 + device.random() / 2) * FAULT_LOOK_MS;
    this.#tasks.later("enter", inMs, () => shell.goBack());
  }

  #join(): Promise<void> {
    return this.#do("join", async () => {
      const reply = await this.#joinWithWork();
      this.#place.known.effort = undefined;
      if (reply.ok) {
        this.#heard();
        if (this.#place.joined(reply.body.number, reply.body.issuedAt)) {
          this.#looks.quickly();
          this.#ports.shell.tell("place", reply.body.number);
        }
        this.#looks.atOnce();
      } else if (reply.reason === "cookies-off") {
        // The first answer has set the cookie: a browser that keeps it joins with the second try.
        this.#cookiesRefused += 1;
        if (this.#cookiesRefused > 1) this.#place.known.condition = "cookies";
      } else if (reply.status === 410 || reply.status === 409) {
        this.#trouble.failed(OVER_RETRY_MS);
        if (reply.status === 409) this.#looks.soon();
      } else if (reply.status === 429) {
        // The network's joins are limited for a moment: nothing is wrong.
        this.#trouble.failed(reply.retryAfterMs);
        this.#place.known.effort = "limited";
      } else this.#failed(reply);
    });
  }

  /** Where the event asks for work before a place, it is done, and said; once, however often the join is tried with it. */
  async #joinWithWork(): Promise<Reply<EdgeJoinAnswer>> {
    const { line, prove } = this.#ports;
    const reply = await line.join(this.#proof);
    const work = reply.ok ? undefined : reply.proofOfWork;
    // A page that was given to somebody with a place has no means to work: another one has.
    if (work !== undefined && prove === undefined && this.#data.number !== undefined) {
      this.#ports.shell.goBack();
    }
    if (work === undefined || prove === undefined) return reply;
    this.#place.known.effort = "proving";
    this.#repaint();
    this.#proof = { at: work.at, counter: await prove(work) };
    return line.join(this.#proof);
  }

  #claim(): Promise<void> {
    return this.#do("claim", async () => {
      const place = this.#place;
      const reply = await this.#ports.line.claim(this.#view().said);
      if (reply.ok) {
        this.#heard();
        place.known.claimed = reply.body;
      } else if (reply.status === 410) place.over(reply.order);
      else if (reply.status === 403) place.known.number = undefined;
      else if (reply.status === 425) {
        this.#trouble.advise(Math.max(reply.retryAfterMs, RETRY_MS));
        if (place.isPassed(this.#view()) && place.owe()) this.#looks.atOnce();
        if (reply.creditUsed === true && !place.isCreditUsed) {
          place.isCreditUsed = true;
          this.#looks.atOnce();
          this.#looks.quickly();
        }
      } else if (reply.status === 409) {
        this.#trouble.advise(OVER_RETRY_MS);
        this.#looks.soon();
      } else this.#failed(reply);
    });
  }

  #enter(): void {
    const { shell } = this.#ports;
    shell.tell("in", this.#place.known.claimed?.opensAt);
    this.#enterNotBefore = this.#ports.device.ticks() + RETRY_MS;
    if (shell.enter()) return;
    this.#place.known.condition = "cookies";
    this.#repaint();
  }

  async #do(task: Task, work: () => Promise<void>): Promise<void> {
    await this.#tasks.runOnce(task, work);
    this.#plan(task);
  }

  #plan(task?: Task): void {
    this.#repaint();
    const view = this.#view();
    this.#planJoin();
    this.#planClaim(view);
    // Claims that are tried again and again must not push the next look away.
    if (task !== "claim" || this.#looks.isUrgent || !this.#tasks.isSet("poll"))
      this.#planPoll(view);
  }

  #failed({ status, retryAfterMs }: { status: number; retryAfterMs: number }): void {
    this.#trouble.failed(retryAfterMs);
    if (!this.#ports.device.isOnline()) this.#place.known.condition = "offline";
    else if (this.#trouble.failures > 1 || status > 0) this.#place.known.condition = "unreachable";
  }

  #heard(): void {
    this.#trouble.over();
    const { known } = this.#place;
    if (known.condition !== "cookies" && known.condition !== "clock") known.condition = undefined;
  }

  #planJoin(): void {
    const place = this.#place;
    const { number, condition, settings, gone } = place.known;
    const stopped = condition === "cookies" || gone === true || this.#tasks.isBusy("join");
    if (number !== undefined || stopped || this.#tasks.isSet("join")) return;
    const untilOpenMs = opensForJoins(settings) - this.#now();
    const join = () => (place.isShut ? undefined : this.#join());
    const random = this.#ports.device.random();
    if (untilOpenMs > 0) {
      this.#tasks.later("join", untilOpenMs + random * OPENING_SPREAD_MS, join);
    } else if (!place.isShut) {
      this.#tasks.later(
        "join",
        this.#trouble.failures > 0 ? this.#trouble.retryMs(random) : 0,
        join,
      );
    }
  }

  #planClaim(view: View): void {
    const tasks = this.#tasks;
    const { device } = this.#ports;
    if (tasks.isBusy("claim")) return;
    const isHidden = device.isHidden();
    const random = device.random();
    const plan = claimPlan({ place: this.#place, trouble: this.#trouble, view, isHidden, random });
    if (plan.kind === "none") return;
    if (plan.kind === "enter") {
      const inMs = Math.max(plan.inMs, this.#enterNotBefore - device.ticks());
      tasks.later("enter", inMs, () => this.#enter());
      return;
    }
    if (view.state !== "clock") tasks.forget("enter");
    if (plan.kind === "stop") {
      tasks.forget("claim");
      return;
    }
    const gaveWay = plan.slot !== undefined && plan.slot !== this.#plannedFor;
    if (tasks.isSet("claim") && !gaveWay) return;
    if (plan.slot !== undefined) this.#plannedFor = plan.slot;
    tasks.later("claim", plan.inMs, () => this.#claim());
  }

  #planPoll(view: View): void {
    // Nothing more can come of these, but by a press of the button.
    if (view.state === "ended" || view.state === "bought") return;
    if (this.#tasks.isBusy("poll")) return;
    this.#tasks.later("poll", this.#looks.nextMs(view), () => this.#poll());
  }

  /** True when this device's clock has left its ticks since this was asked last. */
  #watchClock(): boolean {
    const { device } = this.#ports;
    const gap = device.now() - device.ticks();
    const byMs = gap - this.#clockGap;
    this.#clockGap = gap;
    if (Math.abs(byMs) <= CLOCK_JUMP_MS) return false;
    this.#jumps += 1;
    this.#time.jumped(byMs);
    return true;
  }

  #repaint(): void {
    const { device, shell } = this.#ports;
    if (this.#watchClock()) this.wake();
    const { drip, condition, effort, missed, number } = this.#place.known;
    const view = this.#view();
    const isNews =
      (drip ?? condition ?? effort) !== undefined ||
      missed === true ||
      number !== this.#data.number;
    shell.show(view, isNews);
    // Whoever is asked hears it in another tab, too: by title and icon.
    if (!device.isHidden() || view.state === "confirm") {
      this.#tasks.later("paint", 1_000 - (view.now % 1_000), () => this.#repaint());
    }
  }
}

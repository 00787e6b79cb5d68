/**
 * The page's own life: joins, listens, claims and moves in. Everything it does follows from what it
 * knows (`viewOf`); timers only say when to look again, so a page that slept does each thing once.
 */
import { createLineClient } from "@vestibule/client/line-client";
import { createMintTime } from "@vestibule/client/mint-time";
import {
  CLAIM_NEAR_MS,
  CLOCK_JUMP_MS,
  ENTER_SPREAD_MS,
  FAULT_LOOK_MS,
  NEWCOMER_ETA_MS,
  NEWCOMER_LOOKS,
  NEWCOMER_LOOK_MS,
  OPENING_SPREAD_MS,
  OVER_RETRY_MS,
  PASSED_SPREAD_MS,
  REFUSED_LOOK_MS,
  RETRY_DOUBLINGS_MAX,
  RETRY_MS,
  SHUT_SOONEST_MS,
} from "@vestibule/client/pace";
import { type Condition, type View, opensForJoins, viewOf } from "@vestibule/client/view";
import type { DripView } from "@vestibule/contracts/statements";
import { pollDelayMs } from "@vestibule/drip/poll";
import { claimWindowMs } from "@vestibule/drip/slot";
import type { PageData } from "../markup.ts";
import { type Speech, wordsOf } from "../words.ts";
import { linePorts } from "./line-ports.browser.ts";
import { listen } from "./listen.browser.ts";
import { loadAgain, moveIn } from "./moving-in.browser.ts";
import { paint } from "./paint.browser.ts";
import { Timers } from "./timers.browser.ts";

/** States of a turn that is set, and those in which a place that the line has passed may be. */
const HAS_TURN: ReadonlySet<View["state"]> = new Set(["known", "turn", "confirm"]);
const PASSED: ReadonlySet<View["state"]> = new Set(["passed", "owed", "missed"]);

export class Waiting {
  readonly #data: PageData;
  readonly #line: ReturnType<typeof createLineClient>;
  readonly #time: ReturnType<typeof createMintTime>;
  readonly #speech: Speech;
  readonly #timers = new Timers();

  #number: number | undefined;
  /** The fewest people ahead so far. */
  #aheadMost: number | undefined;
  #drip: DripView | undefined;
  #condition: Condition | undefined;
  #claimed: { readonly opensAt: number; readonly closesAt: number } | undefined;
  /** The slot, by its opening, for which the fan has said that they are there. */
  #saidFor: number | "first" | undefined;
  /** The mint said that the slot is over. */
  #missed: boolean;
  /** It ran out before our eyes: that holds when it is listed no more. */
  #lapsed = false;
  /** The mint said that the next slot is for this place. */
  #owed: boolean;
  /** Of whoever has bought. */
  #order: string | undefined;
  /** Shown by the browser, in a cookie; once used it stands for the slot that is on its way. */
  #credit: "shown" | "used" | undefined;
  /** Requests that failed in a row, and what the last one was told to wait. */
  #failures = 0;
  #advisedMs = 0;
  #cookiesRefused = 0;
  /** Looks at the line to be taken soon: at once, and quickly one after the other. */
  #lookNow = false;
  #lookSoon = false;
  #quickLooks = 0;
  /** The opening for which the claim is planned. */
  #plannedFor: number | undefined;
  #clockGap = Date.now() - performance.now();

  /** `receivedAt`: when the page's first byte arrived, by this device's clock. */
  constructor(data: PageData, speech: Speech, receivedAt: number) {
    this.#data = data;
    this.#speech = speech;
    this.#number = data.number;
    this.#condition = data.condition;
    this.#missed = data.missed === true;
    this.#owed = data.owed === true;
    this.#order = data.order;
    this.#claimed = data.claimed;
    if (data.credit === true) this.#credit = "shown";
    this.#line = createLineClient(data.settings.event, linePorts);
    this.#time = createMintTime(data.now, receivedAt);
  }

  start(): void {
    // Reloaded by hand it would send the form again.
    if (this.#data.back !== undefined) history.replaceState(null, "", this.#data.back);
    listen({
      join: () => this.#join(),
      confirm: () => this.#confirm(),
      enter: () => (this.#claimed === undefined ? this.#claim() : this.#enter()),
      wake: () => this.#wake(),
      offline: () => {
        if (this.#condition !== "cookies") this.#condition = "offline";
        this.#repaint();
      },
    });
    this.#repaint();
    this.#planJoin();
    this.#timers.later("poll", 0, () => this.#poll());
  }

  /** By the mint's clock. */
  #now(): number {
    return this.#time.at(Date.now());
  }

  #view(): View {
    const view = viewOf({
      settings: this.#data.settings,
      now: this.#now(),
      number: this.#number,
      drip: this.#drip,
      condition: this.#condition,
      missed: this.#missed,
      lapsed: this.#lapsed,
      owed: this.#owed,
      order: this.#order,
      claimed: this.#claimed,
      saidFor: this.#saidFor,
      credit: this.#credit !== undefined,
      aheadMost: this.#aheadMost,
    });
    const hasSlot = HAS_TURN.has(view.state);
    if (hasSlot && this.#credit === "used") this.#credit = undefined;
    if (hasSlot) this.#owed = false;
    this.#lapsed = !hasSlot && (this.#lapsed || view.isLost);
    const hasOpened = view.slot !== undefined && view.now >= view.slot.opensAt;
    if (!hasOpened && !view.isLost) this.#aheadMost = view.ahead ?? this.#aheadMost;
    return view;
  }

  #poll(): Promise<void> {
    return this.#do("poll", async () => {
      const reply = await this.#line.drip();
      if (!reply.ok) {
        this.#failed(reply.status, reply.retryAfterMs);
        return;
      }
      this.#heard();
      // An answer that a newer one has overtaken takes nothing back (law 2).
      const known = this.#drip ?? reply.body;
      const drip = reply.body.seq >= known.seq ? reply.body : known;
      this.#time.heard(drip.at, reply.receivedAt);
      this.#view(); // sees a turn that has run out: the next statement may list it no more
      this.#drip = drip;
      if (this.#saidFor === "first") this.#saidFor = this.#view().slot?.opensAt;
      this.#heardFault(reply.body.fault);
      this.#checkClaim(drip.heldSince);
    });
  }

  /** Of the location that has answered: only a poll tells. */
  #heardFault(fault: DripView["fault"]): void {
    // The page's time may be that clock's, from before it was found: the next statement tells.
    if (fault !== undefined) this.#time.forget();
    if (this.#condition === "cookies") return;
    const goesBack = fault === undefined && this.#data.returns === true;
    this.#condition = goesBack ? "clock" : fault;
    if (!goesBack || this.#timers.isSet("enter")) return;
    this.#timers.later("enter", (0.5 + Math.random() / 2) * FAULT_LOOK_MS, () => {
      loadAgain(this.#data.back);
    });
  }

  /** A hold, or a new slot after it, voids the admission in hand: claim again. */
  #checkClaim(heldSince: number | undefined): void {
    if (this.#claimed === undefined) return;
    const { opensAt } = this.#claimed;
    const slot = this.#view().slot;
    const held = heldSince !== undefined && opensAt > heldSince;
    if (held || (slot !== undefined && slot.opensAt !== opensAt)) this.#claimed = undefined;
  }

  #join(): Promise<void> {
    return this.#do("join", async () => {
      const reply = await this.#line.join();
      if (reply.ok) {
        this.#heard();
        this.#missed = this.#lapsed = this.#owed = false;
        if (reply.body.number !== this.#number) {
          this.#claimed = undefined;
          this.#order = undefined;
          this.#aheadMost = undefined;
          this.#quickLooks = NEWCOMER_LOOKS;
        }
        this.#number = reply.body.number;
        this.#lookNow = true;
      } else if (reply.reason === "cookies-off") {
        // The first answer has set the cookie: a browser that keeps it joins with the second try.
        this.#cookiesRefused += 1;
        if (this.#cookiesRefused > 1) this.#condition = "cookies";
      } else if (reply.status === 410 || reply.status === 409) {
        this.#failures += 1;
        this.#advisedMs = OVER_RETRY_MS;
        this.#lookSoon = reply.status === 409;
      } else this.#failed(reply.status, reply.retryAfterMs);
    });
  }

  /** "I'm here": from now on the page tries by itself. */
  #confirm(): Promise<void> {
    this.#plannedFor = this.#view().slot?.opensAt;
    this.#saidFor = this.#plannedFor ?? "first";
    this.#repaint();
    return this.#claim();
  }

  #claim(): Promise<void> {
    return this.#do("claim", async () => {
      const reply = await this.#line.claim(this.#view().said);
      if (reply.ok) {
        this.#heard();
        this.#claimed = reply.body;
      } else if (reply.status === 410) {
        [this.#missed, this.#owed] = [true, false];
        this.#order = reply.order;
        this.#credit = undefined;
      } else if (reply.status === 403) this.#number = undefined;
      else if (reply.status === 425) {
        this.#advisedMs = Math.max(reply.retryAfterMs, RETRY_MS);
        if (this.#isPassed()) {
          this.#lookNow ||= !this.#owed;
          this.#owed = true;
          this.#lapsed = false;
        }
        if (reply.creditUsed && this.#credit !== "used") {
          this.#credit = "used";
          this.#lookNow = true;
          this.#quickLooks = NEWCOMER_LOOKS;
        }
      } else if (reply.status === 409) {
        this.#advisedMs = OVER_RETRY_MS;
        this.#lookSoon = true;
      } else this.#failed(reply.status, reply.retryAfterMs);
    });
  }

  #enter(): void {
    if (moveIn(this.#data.settings.event, this.#data.back)) return;
    this.#condition = "cookies";
    this.#repaint();
  }

  async #do(task: "poll" | "join" | "claim", work: () => Promise<void>): Promise<void> {
    await this.#timers.once(task, work);
    this.#repaint();
    const view = this.#view();
    this.#planJoin();
    this.#planClaim(view);
    // Claims that are tried again and again must not push the next look away.
    const urgent = this.#lookNow || this.#lookSoon;
    if (task !== "claim" || urgent || !this.#timers.isSet("poll")) this.#planPoll(view);
  }

  #failed(status: number, retryAfterMs: number): void {
    this.#failures += 1;
    this.#advisedMs = retryAfterMs;
    if (!navigator.onLine) this.#condition = "offline";
    else if (this.#failures > 1 || status > 0) this.#condition = "unreachable";
  }

  #heard(): void {
    this.#failures = 0;
    this.#advisedMs = 0;
    if (this.#condition !== "cookies" && this.#condition !== "clock") this.#condition = undefined;
  }

  /** Nobody joins: whether that changes is seen in the drip. */
  #isShut(): boolean {
    return this.#drip?.state === "ended" || this.#drip?.state === "soldout";
  }

  #planJoin(): void {
    const stopped = this.#condition === "cookies" || this.#timers.isBusy("join");
    if (this.#number !== undefined || stopped || this.#timers.isSet("join")) return;
    const untilOpenMs = opensForJoins(this.#data.settings) - this.#now();
    const join = () => (this.#isShut() ? undefined : this.#join());
    if (untilOpenMs > 0) {
      this.#timers.later("join", untilOpenMs + Math.random() * OPENING_SPREAD_MS, join);
    } else if (!this.#isShut())
      this.#timers.later("join", this.#failures > 0 ? this.#retryMs() : 0, join);
  }

  /** The line has passed this number without a slot: the mint owes it one, or says that it is over. */
  #isPassed(): boolean {
    const { state, slot } = this.#view();
    return PASSED.has(state) && slot === undefined;
  }

  #planClaim({ slot, state, said }: View): void {
    const timers = this.#timers;
    if (this.#number === undefined || timers.isBusy("claim")) return;
    if (this.#missed || this.#order !== undefined) return;
    // Nobody enters here by now. What is claimed is kept for later, or for another location.
    const isClosed = state === "clock";
    if (this.#claimed !== undefined && isClosed) return;
    if (this.#claimed !== undefined) {
      const untilOpenMs = this.#claimed.opensAt - this.#now();
      const spreadMs = untilOpenMs > 0 ? Math.random() * ENTER_SPREAD_MS : 0;
      timers.later("enter", untilOpenMs + spreadMs, () => this.#enter());
      return;
    }
    if (!isClosed) timers.cancel("enter");
    const isAsked = state === "confirm";
    if (isAsked && !said) {
      timers.cancel("claim");
      return;
    }
    const owed = this.#isPassed() || state === "credit";
    // A slot that is over is of no use, unless it is made good.
    const isOver = slot !== undefined && this.#now() >= slot.closesAt && state !== "missed";
    if ((slot === undefined || isOver) && !owed) timers.cancel("claim");
    else if (state === "passed" && this.#failures === 0 && this.#advisedMs === 0) {
      if (!timers.isSet("claim")) {
        timers.later("claim", Math.random() * PASSED_SPREAD_MS, () => this.#claim());
      }
    } else if (this.#failures > 0 || this.#advisedMs > 0 || slot === undefined) {
      if (!timers.isSet("claim")) timers.later("claim", this.#retryMs(), () => this.#claim());
    } else if (!timers.isSet("claim") || slot.opensAt !== this.#plannedFor) {
      // Spread over the time that is left: a committed piece of the line does not claim all at once.
      const leftMs = isAsked ? 0 : Math.max(0, slot.opensAt - this.#now() - CLAIM_NEAR_MS);
      this.#plannedFor = slot.opensAt;
      timers.later("claim", Math.random() * leftMs, () => this.#claim());
    }
  }

  #planPoll(view: View): void {
    // Nothing more can come of these, but by a press of the button.
    if (view.state === "ended" || view.state === "bought") return;
    if (this.#timers.isBusy("poll")) return;
    this.#timers.later("poll", this.#pollDelayMs(view), () => this.#poll());
  }

  #pollDelayMs(view: View): number {
    const { slot: known, eta, state, soonestMs, isLost, isShut, number, lastCallInMs } = view;
    // What is over says nothing about the slot that makes it good.
    const slot = state === "credit" ? undefined : known;
    if (this.#lookNow) {
      this.#lookNow = false;
      return 0;
    }
    if (this.#lookSoon) {
      this.#lookSoon = false;
      return REFUSED_LOOK_MS * (1 + Math.random());
    }
    const mayBeNext = slot === undefined && (eta?.fromMs ?? Infinity) < NEWCOMER_ETA_MS;
    if (this.#quickLooks > 0 && mayBeNext && this.#failures === 0) {
      this.#quickLooks -= 1;
      return NEWCOMER_LOOK_MS * (0.5 + Math.random());
    }
    const delayMs = pollDelayMs({
      random: Math.random(),
      claimWindowMs: claimWindowMs(this.#data.settings),
      hidden: document.hidden,
      ...{ failures: this.#failures, advisedMs: this.#advisedMs, lastCallInMs },
      untilTurnMs: slot && slot.opensAt - this.#now(),
      soonestMs: isLost || (isShut && number === undefined) ? SHUT_SOONEST_MS : soonestMs,
    });
    if (state !== "clock" || document.hidden) return delayMs;
    return Math.min(delayMs, (0.5 + Math.random() / 2) * FAULT_LOOK_MS);
  }

  #retryMs(): number {
    const backOffMs = RETRY_MS * 2 ** Math.min(this.#failures, RETRY_DOUBLINGS_MAX);
    return Math.max(this.#advisedMs, backOffMs) * (1 + Math.random() / 2);
  }

  /** After sleep, a change of the clock, the back button or a lost network: one poll, at once. */
  #wake(): void {
    this.#time.forget();
    this.#timers.later("poll", 0, () => this.#poll());
    this.#repaint();
  }

  #repaint(): void {
    const gap = Date.now() - performance.now();
    const jumped = Math.abs(gap - this.#clockGap) > CLOCK_JUMP_MS;
    this.#clockGap = gap;
    if (jumped) this.#wake();
    // Until there is news the page says what the server wrote.
    const news = this.#drip ?? this.#condition ?? this.#missed;
    const view = this.#view();
    if (news !== false || this.#number !== this.#data.number) {
      paint(view, wordsOf(view, this.#speech, this.#data.title), this.#speech.texts);
    }
    // Whoever is asked hears it in another tab, too: by the title.
    if (!document.hidden || view.state === "confirm") {
      this.#timers.later("paint", 1_000 - (this.#now() % 1_000), () => {
        this.#repaint();
      });
    }
  }
}

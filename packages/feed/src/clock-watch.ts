/**
 * Watches the own clock against the mint's (design section 10). Asks with a nonce and takes the signed answer: statements
 * cannot prove that a clock is ahead, for an old copy looks the same. Kept as values, as all that a feed knows.
 */
import {
  type ClockEstimate,
  type ClockReport,
  type ClockState,
  clockAnswerSchema,
} from "@vestibule/contracts/edges-api";
import { parse } from "@vestibule/contracts/parse";
import type { Clock } from "@vestibule/kernel/clock";
import type { Randomness } from "@vestibule/kernel/randomness";
import { type EpochMs, epochMs } from "@vestibule/kernel/units";
import { encodeBase64url } from "@vestibule/keys/base64url";
import type { KeySet } from "@vestibule/keys/key-set";
import { verifyTime } from "@vestibule/token/verify-time";
import { type ClockReading, estimateAt, readClock } from "./clock-offset.ts";
import { judgeClock } from "./judge-clock.ts";
import {
  CLOCK_ANSWER_BYTES_MAX,
  CLOCK_ASK_CALM_MS,
  CLOCK_ASK_SOON_MS,
  FIRST_WAIT_MS,
  FIRST_WAIT_STEP_MS,
  MINT_DEADLINE_MS,
  REFRESH_SLACK_MS,
} from "./limits.ts";
import type { MintOrder } from "./mint-order.ts";
import type { ClockHealth, FeedAlarm, FetchText, PassReport, Sleep } from "./ports.ts";

export interface ClockWatch {
  /**
   * Surely beyond the tolerance, as the last answer said: what is valid and what is over cannot be told apart. Only another
   * answer ends it, so that whoever keeps answers away opens nothing. Free to look at.
   */
  readonly isWrong: boolean;
  /** The first question came to an end, with an answer or without. */
  readonly isAsked: boolean;
  /**
   * The own clock; while that is surely wrong, the mint's as measured. Within the tolerance everybody goes by their
   * own. `undefined`: unwatched.
   */
  readonly time: Clock | undefined;
  /** True when it is time to ask and nobody is asking. */
  due(): boolean;
  /** Asks the mints in their order, until one answers; not while somebody is asking. Never rejects. */
  ask(): Promise<void>;
  /** At once when there was a question before; else asks, or waits for whoever is asking, for at most `FIRST_WAIT_MS`. */
  whenAsked(): Promise<void>;
  /** While somebody is asking: the end of that, or of `FIRST_WAIT_MS`. Never a promise of another request. */
  whenAnswered(): Promise<void> | undefined;
  /** Something looks odd, or there is something to report: the next question is not put off for long. */
  askSoon(): void;
  health(): ClockHealth;
}

/** What a feed lends to its watch: itself, and what it was made of. */
export interface Lent {
  readonly feed: {
    readonly mints: MintOrder;
    keys(now: EpochMs): KeySet | undefined;
    whenKnown(thing: "keys", now: EpochMs): Promise<boolean>;
    newerKeys(now: EpochMs): Promise<boolean>;
  };
  readonly options: {
    readonly issuer: string;
    readonly skewSeconds: number;
    readonly fetchText: FetchText;
    readonly sleep: Sleep;
    readonly alarm?: (alarm: FeedAlarm) => void;
  };
  readonly known: { readonly seq: number | undefined };
}

/** Makes the watch of a feed. */
export type StartClockWatch = (lent: Lent) => ClockWatch;

/** Of a feed whose owner watches the clock by other means. */
export const unwatched: ClockWatch = {
  isWrong: false,
  isAsked: true,
  time: undefined,
  due: () => false,
  ask: () => Promise.resolve(),
  whenAsked: () => Promise.resolve(),
  whenAnswered: () => undefined,
  askSoon: () => undefined,
  health: () => ({ state: "unknown", offsetMs: null, uncertaintyMs: null, measuredAgoMs: null }),
};

export interface OwnClock {
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** The location's name, as the mint is told. */
  readonly location: string;
  /** Told beside the clock, to mints that take it. */
  readonly passes?: PassReport;
}

/** @param own a clock that is never read for anything else here, and never corrected. */
export function watchClock(own: OwnClock): StartClockWatch {
  return (lent) => new Watch(own, lent);
}

type Asked =
  | { readonly kind: "answered"; readonly reading: ClockReading }
  /** `isOlder`: it knows no such question. `why`: of each mint that was asked. */
  | { readonly kind: "in-vain"; readonly isOlder: boolean; readonly why: readonly Why[] };

interface Why {
  readonly url: string;
  readonly reason: string;
}

const NONCE_BYTES = 16;

/** What a mint says to a question that it does not understand: too long, or with an unknown member. */
const REFUSED: ReadonlySet<number> = new Set([400, 413, 422]);

class Watch implements ClockWatch {
  isWrong = false;
  isAsked = false;
  readonly time: Clock;
  readonly #own: OwnClock;
  readonly #lent: Lent;
  #reading: ClockReading | undefined;
  #state: ClockState = "unknown";
  #correctionMs = 0;
  #startedAt: EpochMs | undefined;
  /** Questions begun, and the latest of them that came to an end. */
  #begun = 0;
  #settled = 0;
  #askedAt = Number.NEGATIVE_INFINITY;
  #restMs = 0;
  #isInVain = false;
  /** Addresses of mints whose last answer said that they take passes; one of an older release would refuse the question. */
  readonly #takePasses = new Set<string>();

  constructor(own: OwnClock, lent: Lent) {
    this.#own = own;
    this.#lent = lent;
    const { clock } = own;
    this.time = {
      now: () => {
        const now = clock.now();
        return this.#correctionMs === 0 ? now : epochMs(Math.max(0, now - this.#correctionMs));
      },
    };
  }

  due(): boolean {
    const now = this.#own.clock.now();
    if (this.#isUnderWay(now)) return false;
    // One that was set back says nothing of what was asked before.
    return now < this.#askedAt || now - this.#askedAt >= this.#restMs;
  }

  askSoon(): void {
    this.#restMs = Math.min(this.#restMs, CLOCK_ASK_SOON_MS);
  }

  async whenAsked(): Promise<void> {
    if (this.isAsked) return;
    await (this.due() ? this.ask() : this.whenAnswered());
  }

  whenAnswered(): Promise<void> | undefined {
    return this.#isUnderWay(this.#own.clock.now()) ? this.#look() : undefined;
  }

  async #look(): Promise<void> {
    const { clock } = this.#own;
    for (let waitedMs = 0; waitedMs < FIRST_WAIT_MS; waitedMs += FIRST_WAIT_STEP_MS) {
      await this.#lent.options.sleep(FIRST_WAIT_STEP_MS);
      if (!this.#isUnderWay(clock.now())) return;
    }
  }

  /** A question that has not come to an end by then was cancelled with its request. */
  #isUnderWay(now: EpochMs): boolean {
    const deadMs = this.#lent.feed.mints.urls(now).length * MINT_DEADLINE_MS + REFRESH_SLACK_MS;
    return this.#startedAt !== undefined && Math.abs(now - this.#startedAt) < deadMs;
  }

  async ask(): Promise<void> {
    const { clock } = this.#own;
    if (this.#isUnderWay(clock.now())) return;
    this.#startedAt = clock.now();
    this.#begun += 1;
    const mine = this.#begun;
    const asked = await this.#askMints().catch((error: unknown): Asked => {
      const reason = error instanceof Error ? error.name : "unknown";
      return { kind: "in-vain", isOlder: false, why: [{ url: "", reason }] };
    });
    if (mine === this.#begun) this.#startedAt = undefined;
    // One that was given up as dead, and ended after its follower: what it measured is older.
    if (mine > this.#settled) this.#settle(asked, mine);
  }

  async #askMints(): Promise<Asked> {
    const now = this.time.now();
    const keys = await this.#keys(now);
    if (keys === undefined) return { kind: "in-vain", isOlder: false, why: [] };
    const why: Why[] = [];
    let isOlder = true;
    for (const base of this.#lent.feed.mints.urls(now)) {
      const asked = await this.#askMint(base, keys);
      if (asked.kind === "answered") return asked;
      isOlder &&= asked.isOlder;
      why.push(...asked.why);
    }
    return { kind: "in-vain", isOlder, why };
  }

  async #keys(now: EpochMs): Promise<KeySet | undefined> {
    const { feed } = this.#lent;
    if (feed.keys(now) === undefined) await feed.whenKnown("keys", now);
    return feed.keys(now);
  }

  async #askMint(base: string, keys: KeySet): Promise<Asked> {
    const { clock, randomness, location, passes: report } = this.#own;
    const nonce = encodeBase64url(randomness.bytes(NONCE_BYTES));
    const url = `${base}/v1/edges/${encodeURIComponent(location)}/clock`;
    const passes = (this.#takePasses.has(base) ? report?.pending() : undefined) ?? [];
    const body = JSON.stringify({
      ...this.#report(nonce),
      ...(passes.length === 0 ? {} : { passes }),
    });
    const sentAt = clock.now();
    const answer = await this.#lent.options.fetchText({
      ...{ url, body, accept: "application/json" },
      ...{ deadlineMs: MINT_DEADLINE_MS, bytesMax: CLOCK_ANSWER_BYTES_MAX },
    });
    const receivedAt = clock.now();
    const inVain = (reason: string, isOlder = false): Asked => ({
      ...{ kind: "in-vain", isOlder },
      why: [{ url, reason }],
    });
    if (!answer.ok) {
      const { refusal } = answer;
      const status = refusal.reason === "status" ? refusal.status : 0;
      if (REFUSED.has(status)) this.#takePasses.delete(base);
      return inVain(refusal.reason, status === 404 || status === 405);
    }
    const { text, roundTripMs } = answer.value;
    const time = await this.#verify(text, nonce, keys);
    if (typeof time === "string") return inVain(time);
    if (time.takes.includes("passes")) this.#takePasses.add(base);
    else this.#takePasses.delete(base);
    report?.heard(passes);
    const reading = readClock({ sentAt, receivedAt, at: time.at, roundTripMs });
    return reading === undefined ? inVain("too-slow") : { kind: "answered", reading };
  }

  #report(nonce: string): ClockReport {
    const { state, estimate } = this.#judge();
    const { skewSeconds } = this.#lent.options;
    const keysSeq = this.#lent.known.seq;
    return {
      ...{ nonce, state, skewSeconds },
      ...(estimate === undefined ? {} : { estimate }),
      ...(keysSeq === undefined ? {} : { keysSeq }),
    };
  }

  /** @returns why not, when it is none. */
  async #verify(
    text: string,
    nonce: string,
    keys: KeySet,
  ): Promise<{ readonly at: number; readonly takes: readonly string[] } | string> {
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      return "not-json";
    }
    const body = parse(clockAnswerSchema, json);
    if (!body.ok) return "bad-answer";
    const { time, takes = [] } = body.value;
    const { issuer } = this.#lent.options;
    let read = await verifyTime(time, { keys, issuer, nonce });
    if (!read.ok && read.refusal.reason === "unknown-key") {
      const now = this.time.now();
      await this.#lent.feed.newerKeys(now);
      const newer = this.#lent.feed.keys(now) ?? keys;
      if (newer !== keys) read = await verifyTime(time, { keys: newer, issuer, nonce });
    }
    return read.ok ? { at: read.value.at, takes } : read.refusal.reason;
  }

  #judge(): { readonly state: ClockState; readonly estimate: ClockEstimate | undefined } {
    const estimate = estimateAt(this.#reading, this.#own.clock.now());
    const judged = judgeClock(estimate, this.#lent.options.skewSeconds);
    return { state: this.isWrong ? "wrong" : judged, estimate };
  }

  /** What is known now, after a question that was answered or not. */
  #settle(asked: Asked, turn: number): void {
    const { clock, randomness } = this.#own;
    const isAnswered = asked.kind === "answered";
    if (isAnswered) {
      this.#reading = asked.reading;
      this.isWrong = false;
    } else if (!this.#isInVain) {
      // The first of several in a row. A standby that refuses before the leader answers is nothing to tell.
      for (const { url, reason } of asked.why) this.#tell(url, reason);
    }
    this.#settled = turn;
    this.isAsked = true;
    this.#isInVain = !isAnswered;
    this.#askedAt = clock.now();
    const { state, estimate } = this.#judge();
    const before = this.#state;
    this.#state = state;
    // What has changed is reported with the next question.
    const isCalm = state === "unknown" ? !isAnswered && asked.isOlder : state === "good";
    const [byte = 0] = randomness.bytes(1);
    // Spread, so that isolates that started together do not ask together for ever.
    this.#restMs =
      isCalm && state === before ? CLOCK_ASK_CALM_MS * (0.9 + byte / 1_280) : CLOCK_ASK_SOON_MS;
    this.isWrong = state === "wrong";
    // Without an estimate: as it was measured last.
    this.#correctionMs = this.isWrong ? (estimate?.offsetMs ?? this.#correctionMs) : 0;
    const isNews = state !== before && !(before === "unknown" && state === "good");
    if (isNews) this.#tell("", `clock-${state}`);
  }

  #tell(url: string, reason: string): void {
    const { location } = this.#own;
    this.#lent.options.alarm?.({
      ...{ thing: "clock", url, reason },
      clock: { location, ...this.health() },
    });
  }

  health(): ClockHealth {
    const { state, estimate } = this.#judge();
    const { offsetMs = null, uncertaintyMs = null } = estimate ?? {};
    const ageMs = this.#reading && this.#own.clock.now() - this.#reading.until;
    const measuredAgoMs = estimate === undefined ? null : (ageMs ?? null);
    return { state, offsetMs, uncertaintyMs, measuredAgoMs };
  }
}

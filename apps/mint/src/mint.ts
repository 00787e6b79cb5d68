/** The mint's two verbs for fans, join and claim, on whichever term there is. */
import type {
  ClaimAnswer,
  ClaimRequest,
  JoinAnswer,
  JoinRequest,
} from "@vestibule/contracts/line-api";
import type { PremintClaimsAnswer, PremintClaimsRequest } from "@vestibule/contracts/premint-api";
import type { Clock } from "@vestibule/kernel/clock";
import { AppError } from "@vestibule/kernel/app-error";
import { type EpochMs, epochSeconds, toMs, toSeconds } from "@vestibule/kernel/units";
import { slotTimes } from "@vestibule/drip/slot";
import { opensAt } from "@vestibule/drip/segment";
import { problem } from "@vestibule/service/problems";
import type { CreditReader } from "./credit-reader.ts";
import type { LineEntry, LineTerm } from "./lead/line-term.ts";
import { CLAIM_SIGNATURES_AT_ONCE, PREMINTS_AT_ONCE_MAX } from "./limits.ts";
import type { Granted } from "./line/claim-desk.ts";
import type { EventLine } from "./line/event-line.ts";
import { assertJoinable, isEnded } from "./line/event-state.ts";
import type { PremintBatch } from "./line/premint-desk.ts";
import type { RecentJoins } from "./line/recent-joins.ts";
import type { Sub, Tokens } from "./tokens.ts";
import { unavailable } from "./unavailable.ts";

export interface MintOptions {
  readonly clock: Clock;
  readonly tokens: Tokens;
  readonly recent: RecentJoins;
  readonly credits: CreditReader;
  /** The present term; `undefined` in a standby. */
  readonly term: () => LineTerm | undefined;
}

export interface Joined {
  /** A place that this visitor did not have before. */
  readonly fresh: boolean;
  readonly answer: JoinAnswer;
}

export class Mint {
  readonly #clock: Clock;
  readonly #tokens: Tokens;
  readonly #recent: RecentJoins;
  readonly #credits: CreditReader;
  readonly #term: () => LineTerm | undefined;
  /** Slugs as small numbers, for the table of recent joins. */
  readonly #lineIds = new Map<string, number>();
  #batches = 0;

  constructor({ clock, tokens, recent, credits, term }: MintOptions) {
    this.#clock = clock;
    this.#tokens = tokens;
    this.#recent = recent;
    this.#credits = credits;
    this.#term = term;
  }

  /** @throws AppError `unavailable` in a standby. */
  leading(): LineTerm {
    const term = this.#term();
    if (term !== undefined) return term;
    throw unavailable("this mint does not lead");
  }

  /** @throws AppError `unavailable`, `event-not-found`. */
  entry(event: string): LineEntry {
    const entry = this.leading().entry(event);
    if (entry === undefined) throw problem("event-not-found");
    return entry;
  }

  /**
   * A place in line. Everything is checked before a number is taken; nothing is written.
   *
   * @throws AppError `event-not-found`, `event-ended`, `too-early`, `sold-out`, `unavailable`.
   */
  async join(event: string, { visitor, ticket }: JoinRequest): Promise<Joined> {
    const entry = this.entry(event);
    const now = this.#clock.now();
    const { line } = entry;
    if (isEnded(line.record, now)) throw problem("event-ended");
    const sub = this.#tokens.subOf(visitor);
    if (ticket !== undefined) {
      const shown = await this.#tokens.readTicket(ticket, { event, visitor, now });
      if (shown.ok && (await this.#isStillGood(line, shown.n, now))) {
        return this.#answer(line, { n: shown.n, sub, fresh: false });
      }
    }
    assertJoinable(line.record, now);
    const lineId = this.#lineId(event);
    for (;;) {
      const earlier = this.#recent.find(sub.words, lineId, now);
      if (earlier !== undefined) {
        if (await this.#isStillGood(line, earlier, now)) {
          return this.#answer(line, { n: earlier, sub, fresh: false });
        }
        if (this.#recent.find(sub.words, lineId, now) !== earlier) continue;
      }
      // From the look at the table to the note in it nothing is awaited: one visitor, one number.
      const wasQuiet = line.isQuiet();
      const n = line.sequencer.take();
      if (n !== undefined) {
        this.#recent.remember(sub.words, lineId, { number: n, at: now });
        if (wasQuiet) this.#term()?.newcomer(entry);
        return this.#answer(line, { n, sub, fresh: true });
      }
      await line.sequencer.refilled();
    }
  }

  /**
   * An admission for the slot of a ticket; asked again, the same one. A credit counts when that slot is
   * over; one that is not genuine, or another place's, is as good as none.
   *
   * @throws AppError `event-not-found`, `forbidden` for a ticket that is not this visitor's, and all
   * of `ClaimDesk.claim`.
   */
  async claim(
    event: string,
    { visitor, ticket, credit, confirmed }: ClaimRequest,
  ): Promise<ClaimAnswer> {
    const { line, desk } = this.entry(event);
    const now = this.#clock.now();
    if (isEnded(line.record, now)) throw problem("event-ended");
    const shown = await this.#tokens.readTicket(ticket, { event, visitor, now });
    if (!shown.ok)
      throw problem("forbidden", { detail: "This ticket is not valid for this visitor" });
    const proof =
      credit === undefined ? undefined : await this.#credits(credit, { event, visitor, now });
    const granted = await desk.claim(shown.n, {
      credit: proof?.number === shown.n ? proof : undefined,
      confirmed,
    });
    return this.#admit(line, this.#tokens.subOf(visitor).text, granted);
  }

  /**
   * Places for a batch of people, beforehand: tickets in their order, from the first number on. The numbers
   * are on record before anything is signed.
   *
   * @returns a `PremintAnswer` as JSON in UTF-8.
   * @throws AppError `event-not-found`, and all of `PremintDesk.grant`.
   */
  async premint(event: string, batch: PremintBatch): Promise<Uint8Array<ArrayBuffer>> {
    const entry = this.entry(event);
    return this.#inBulk(async () => {
      const wasQuiet = entry.line.isQuiet();
      const { first } = await entry.premints.grant(batch);
      if (wasQuiet) this.#term()?.newcomer(entry);
      const iat = toSeconds(this.#clock.now());
      const exp = epochSeconds(Math.floor(entry.line.record.settings.endsAt / 1_000));
      return this.#tokens.tickets({ event, first, subs: batch.subs, iat, exp });
    });
  }

  /**
   * Claims for people of such a batch, as each of them would claim; asked again, the same admissions.
   *
   * @throws AppError `event-not-found`, `event-ended`, `not-found`, `conflict`; `unavailable` when that is what
   * everybody's claim came to: what the others came to is in the answer.
   */
  async claimPremint(
    event: string,
    { batch, subs, whose, confirmed }: PremintClaimsRequest & { readonly batch: string },
  ): Promise<PremintClaimsAnswer> {
    const { line, desk, premints } = this.entry(event);
    if (isEnded(line.record, this.#clock.now())) throw problem("event-ended");
    return this.#inBulk(async () => {
      const { first } = await premints.find({ batch, subs });
      const found = await Promise.allSettled(
        whose.map((index) => desk.claim(first + index, { confirmed })),
      );
      const claims: PremintClaimsAnswer["claims"] = [];
      let next = 0;
      const lane = async (): Promise<void> => {
        for (let at = next++; at < found.length; at = next++) {
          const claim = found[at];
          if (claim?.status === "fulfilled")
            claims[at] = await this.#admit(line, subs[claim.value.n - first] ?? "", claim.value);
          else claims[at] = { refused: codeOf(claim?.reason) };
        }
      };
      await Promise.all(Array.from({ length: CLAIM_SIGNATURES_AT_ONCE }, lane));
      const refusal = found.find((claim) => claim.status === "rejected");
      const isAway = claims.every((claim) => "refused" in claim && claim.refused === "unavailable");
      if (isAway) throw refusal?.reason;
      return { claims };
    });
  }

  /** A bounded number of batches at a time. @throws AppError `unavailable` beyond it. */
  async #inBulk<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#batches >= PREMINTS_AT_ONCE_MAX) throw unavailable("too many batches at once");
    this.#batches += 1;
    try {
      return await work();
    } finally {
      this.#batches -= 1;
    }
  }

  async #admit(line: EventLine, sub: string, { n, times, at }: Granted): Promise<ClaimAnswer> {
    const { opensAt, closesAt } = times;
    const { lifetimeSeconds } = line.record.settings;
    const claims = { event: line.event, sub, n, iat: toSeconds(at), opensAt, lifetimeSeconds };
    return { opensAt, closesAt, admission: await this.#tokens.admission(claims) };
  }

  /**
   * Is this place worth having: does it wait, or may its slot still be claimed? Nearly always a
   * comparison; only a place that the line has passed is looked up.
   */
  async #isStillGood(line: EventLine, n: number, now: EpochMs): Promise<boolean> {
    if (n >= line.record.progress.line.nextNumber || line.waitsOnDemand(n)) return true;
    const live = line.liveSlot(n);
    const { settings, facts } = line.record;
    if (live !== undefined) {
      const times = slotTimes(live.opensAt, settings);
      if (now <= times.claimBy || live.opensAt > (facts.hold?.since ?? Infinity)) return true;
    }
    const place = (await line.store.findPlaces(line.event, [n])).get(n);
    // Passed without a slot ever: it gets one on demand.
    if (place === undefined) return true;
    return place.claimed && now < slotTimes(opensAt(place.segment, n), settings).closesAt;
  }

  async #answer(
    line: EventLine,
    { n, sub, fresh }: { n: number; sub: Sub; fresh: boolean },
  ): Promise<Joined> {
    const iat = toSeconds(this.#clock.now());
    const { event } = line;
    const exp = epochSeconds(Math.floor(line.record.settings.endsAt / 1_000));
    const ticket = await this.#tokens.ticket({ event, sub: sub.text, n, iat, exp });
    return { fresh, answer: { event, number: n, issuedAt: toMs(iat), ticket } };
  }

  #lineId(event: string): number {
    const known = this.#lineIds.get(event);
    if (known !== undefined) return known;
    const id = this.#lineIds.size + 1;
    this.#lineIds.set(event, id);
    return id;
  }
}

/** @throws what is no refusal of ours. */
function codeOf(reason: unknown): string {
  if (reason instanceof AppError) return reason.code;
  throw reason;
}

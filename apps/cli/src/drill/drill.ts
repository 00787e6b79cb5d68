/**
 * A rehearsal against the running system: real admissions of the real mint, verified again and again while the key
 * behind them changes. Everything that is awaited has a bound, and ends at once when it is interrupted.
 */
import type { KeysView, KeyView } from "@vestibule/contracts/keys-api";
import type { KeyUse } from "@vestibule/keys/public-key";
import { InterruptedError } from "../failure.ts";
import { isPublished, ofUse, short, staged as stagedKeys } from "../key-words.ts";
import {
  BOUNDARY_MS,
  DRILL_BASELINE_MS,
  DRILL_BASELINE_TOKENS_MIN,
  FAN_EVERY_MS,
  LOCATION_READY_MS_MAX,
  LOOK_EVERY_MS,
  REPORTS_WAIT_MS_MAX,
  ROUND_EVERY_MS,
  WAITING_ENDS_MS,
  WAITING_EVERY_MS,
} from "../limits.ts";
import { AwayError } from "../mint-api.ts";
import type { Session } from "../session.ts";
import { Progress } from "../terminal/progress.ts";
import { figure, span } from "../terminal/words.ts";
import type { Checker, SetMark } from "./checker.ts";
import type { Fans } from "./fans.ts";
import type { KeyHistory } from "./key-history.ts";
import {
  checkerRows,
  type DrillReport,
  fansWord,
  type Propagation,
  reported,
  seconds,
  takeoverFacts,
} from "./report.ts";
import type { Rounds } from "./rounds.ts";
import type { Takeover, Tally } from "./tally.ts";

export interface DrillParts {
  readonly session: Session;
  readonly use: KeyUse;
  readonly reason: string;
  readonly event: string;
  readonly checkers: readonly Checker[];
  readonly fans: Fans;
  readonly rounds: Rounds;
  readonly tally: Tally;
  readonly takeover: Takeover;
  readonly history: KeyHistory;
  readonly startedAt: number;
  /** By the mint's clock: whatever is not done by then is not done. */
  readonly endsAt: number;
}

/** Why it could not be completed. */
class NotDone extends Error {}

export class Drill {
  readonly #parts: DrillParts;
  readonly #progress: Progress;
  readonly #setAfterMs = new Map<Checker, number>();
  #mark: SetMark | undefined;
  #seq: number | undefined;
  #reports: readonly Propagation[] = [];
  #fanAt = 0;
  #everyMs = ROUND_EVERY_MS;
  #reportsAt = 0;
  #haveReported = false;
  #note = "";

  constructor(parts: DrillParts) {
    this.#parts = parts;
    const { platform } = parts.session;
    this.#progress = new Progress(platform.err, platform.clock);
  }

  /** Never rejects for what a drill can find; what happened is in the report. */
  async run(): Promise<DrillReport> {
    const problems: string[] = [];
    let interrupted = false;
    try {
      await this.#baseline();
      await this.#untilSafe();
      this.#assertSound();
      await this.#takeOver();
      await this.#overlap();
      problems.push(...this.#unseen());
    } catch (error) {
      if (error instanceof InterruptedError) interrupted = true;
      else if (error instanceof NotDone) problems.push(error.message);
      else throw error;
    } finally {
      this.#progress.clear();
    }
    if (interrupted) problems.push(...(await this.#whereKeysAre()));
    else await Promise.all([this.#parts.fans.settled(), this.#parts.rounds.settled()]);
    return { ...this.#report(problems), ...(interrupted ? { interrupted: true } : {}) };
  }

  /** The old key alone: whatever is refused now has nothing to do with a rotation. */
  async #baseline(): Promise<void> {
    const { session, fans, tally, checkers } = this.#parts;
    const { time } = session;
    const from = time.now();
    const readyBy = Math.min(this.#parts.endsAt, from + LOCATION_READY_MS_MAX);
    const isReady = (checker: Checker): boolean => tally.firstOld.has(checker);
    await this.#rounds("the key before is verified", (now) => {
      this.#assertSound();
      const tokens = this.#signedBy(this.#parts.takeover.from);
      if (now > readyBy) {
        const late = checkers.filter((checker) => !isReady(checker)).map(({ name }) => name);
        const last =
          fans.lastRefusal === undefined ? "" : ` The last refusal: ${fans.lastRefusal}.`;
        throw new NotDone(
          `Within ${span(LOCATION_READY_MS_MAX)} not everybody took a token of the key that signs: ${late.join(", ") || `${fansWord(tokens)} came through`}.${last}`,
        );
      }
      return (
        now - from >= DRILL_BASELINE_MS &&
        tokens >= DRILL_BASELINE_TOKENS_MIN &&
        checkers.every(isReady)
      );
    });
  }

  /** @throws NotDone when it has failed already: nothing has been changed, and nothing will be. */
  #assertSound(): void {
    const { refused, forgedAccepted, overAccepted } = this.#parts.tally.sum();
    if (refused + forgedAccepted + overAccepted > 0)
      throw new NotDone("Verification is wrong already before the takeover: no key was changed.");
  }

  async #untilSafe(): Promise<void> {
    const { session, takeover } = this.#parts;
    let lookAt = 0;
    let key: KeyView | undefined;
    await this.#rounds("until the next key may sign", async (now) => {
      if (now < lookAt) return false;
      const view = await this.#look();
      lookAt = now + LOOK_EVERY_MS;
      if (view === undefined) return false;
      key = view.keys.find(({ kid }) => kid === takeover.to);
      if (key?.state !== "staged")
        throw new NotDone(
          `${takeover.to} is ${key?.state ?? "gone"}: somebody else changes the keys.`,
        );
      const safeFrom = key.next?.safeFrom ?? now;
      lookAt = Math.min(lookAt, Math.max(safeFrom, now + ROUND_EVERY_MS));
      const leftMs = safeFrom - session.time.now();
      this.#everyMs = leftMs > WAITING_ENDS_MS ? WAITING_EVERY_MS : ROUND_EVERY_MS;
      this.#note = `may sign in ${span(leftMs)}`;
      return key.next?.isSafe === true;
    });
    this.#note = "";
    this.#everyMs = ROUND_EVERY_MS;
  }

  async #takeOver(): Promise<void> {
    const { session, takeover, reason, use } = this.#parts;
    session.assertGoesOn();
    // Asked again after a lost answer it changes nothing.
    const outcome = await this.#insist(() => session.api.step(takeover.to, "activate", { reason }));
    takeover.at = outcome.key.since;
    this.#seq = outcome.seq;
    const view = await this.#insist(() => session.look());
    const [next] = stagedKeys(view, use);
    this.#mark = { retiring: takeover.from, staged: next?.kid };
    const before = ofUse(view, use).find(({ kid }) => kid === takeover.from);
    if (before?.state !== "retiring")
      throw new NotDone(
        `${takeover.from} is ${before?.state ?? "gone"}: somebody else changes the keys.`,
      );
  }

  /** Until the last admission of the old key is over everywhere, and everybody has told of the new set. */
  async #overlap(): Promise<void> {
    const { takeover, checkers, fans, endsAt } = this.#parts;
    const at = takeover.at ?? 0;
    const slowest = Math.max(...checkers.map(({ clock }) => clock.skewMs - clock.aheadMsMin));
    await this.#rounds("the overlap is verified", async (now) => {
      this.#watchSets(now);
      const last = Math.max(
        at,
        ...fans.admitted
          .filter(({ admissionFacts, ticketFacts }) =>
            [admissionFacts.kid, ticketFacts.kid].includes(takeover.from),
          )
          .map(({ admissionFacts }) => admissionFacts.exp * 1_000),
      );
      const overAt = last + slowest + 2 * BOUNDARY_MS;
      this.#note = `${span(overAt - now)} of it left`;
      const haveReported = await this.#readReports(now);
      return now >= Math.min(overAt, endsAt) && (haveReported || now - at > REPORTS_WAIT_MS_MAX);
    });
    this.#watchSets(this.#parts.session.time.now());
  }

  /** @returns true when nothing is to be waited for. */
  async #readReports(now: number): Promise<boolean> {
    const { session, takeover } = this.#parts;
    if (now < this.#reportsAt) return this.#haveReported;
    this.#reportsAt = now + LOOK_EVERY_MS;
    try {
      const view = await session.api.edges();
      this.#reports = reported(view?.edges ?? [], { seq: this.#seq ?? 0, at: takeover.at ?? 0 });
      this.#haveReported = this.#reports.every(({ seconds: after }) => after !== null);
    } catch (error) {
      if (!(error instanceof AwayError)) throw error;
    }
    return this.#haveReported;
  }

  #watchSets(now: number): void {
    const { checkers, takeover } = this.#parts;
    const mark = this.#mark;
    if (mark === undefined || takeover.at === undefined) return;
    for (const checker of checkers)
      if (!this.#setAfterMs.has(checker) && checker.hasSet(mark))
        this.#setAfterMs.set(checker, Math.max(0, now - takeover.at));
  }

  /** Traffic and verification, round after round, until `isOver`. @throws NotDone at the drill's end. */
  async #rounds(what: string, isOver: (now: number) => boolean | Promise<boolean>): Promise<void> {
    const { session, fans, rounds, history, tally, endsAt } = this.#parts;
    for (;;) {
      session.assertGoesOn();
      const now = session.time.now();
      if (now >= endsAt)
        throw new NotDone(`It is not done in the time that it was given (--timeout): ${what}.`);
      if (now >= this.#fanAt) {
        this.#fanAt = now + Math.max(FAN_EVERY_MS, this.#everyMs);
        fans.send();
      }
      const jwks = await session.api.jwks().catch(() => undefined);
      if (jwks !== undefined) await history.note(jwks.body, session.time.now());
      await rounds.begin();
      if (await isOver(session.time.now())) return;
      const { checked, refused } = tally.sum();
      const note = this.#note === "" ? "" : `, ${this.#note}`;
      this.#progress.show(`drill: ${what}${note}; ${figure(checked)} checked, ${refused} refused`);
      await session.sleep(Math.max(50, now + this.#everyMs - session.time.now()));
    }
  }

  async #whereKeysAre(): Promise<readonly string[]> {
    const { session, use } = this.#parts;
    const lines = ["Nothing is half done, and running it again is safe. The keys of this use:"];
    const view = await session.look().catch(() => undefined);
    for (const key of view === undefined ? [] : ofUse(view, use))
      if (isPublished(key)) lines.push(`  ${short(key)} ${key.state}`);
    return lines;
  }

  async #look(): Promise<KeysView | undefined> {
    try {
      return await this.#parts.session.look();
    } catch (error) {
      if (error instanceof AwayError) return undefined;
      throw error;
    }
  }

  /** A mint that is away for a moment is asked again, within the drill's time. */
  async #insist<Value>(ask: () => Promise<Value>): Promise<Value> {
    const { session, endsAt } = this.#parts;
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof AwayError)) throw error;
        if (session.time.now() >= endsAt) throw new NotDone(error.message);
        await session.sleep(ROUND_EVERY_MS);
      }
    }
  }

  #signedBy(kid: string): number {
    const { fans, use } = this.#parts;
    const facts = use === "admission" ? "admissionFacts" : "ticketFacts";
    return fans.admitted.filter((fan) => fan[facts].kid === kid).length;
  }

  /** A checker that saw nothing of the rotation has proven nothing. */
  #unseen(): readonly string[] {
    const { checkers, tally, takeover, fans } = this.#parts;
    const problems: string[] = [];
    if (this.#signedBy(takeover.to) === 0)
      problems.push(
        `No fan got a token of the new key.${fans.lastRefusal === undefined ? "" : ` The last refusal: ${fans.lastRefusal}.`}`,
      );
    for (const checker of checkers) {
      const { forgedChecked, unanswered, checked } = tally.of(checker);
      if (!tally.firstNewMs.has(checker))
        problems.push(`${checker.name} accepted nothing of the new key.`);
      if (forgedChecked === 0) problems.push(`${checker.name} was shown nothing forged.`);
      // Answers that are missing here and there are the network's.
      if (unanswered > checked / 10)
        problems.push(`${checker.name} gave no answer ${unanswered} times.`);
    }
    return problems;
  }

  #report(problems: readonly string[]): DrillReport {
    const { session, use, event, checkers, tally, takeover, startedAt } = this.#parts;
    const propagation = checkers.map((checker): Propagation => {
      const after = this.#setAfterMs.get(checker);
      const taken = tally.firstNewMs.get(checker);
      const { name, kind, isHeldBack } = checker;
      return {
        ...{ name, kind },
        seconds: after === undefined || isHeldBack ? null : seconds(after),
        newKeySeconds: taken === undefined ? null : seconds(taken),
      };
    });
    return {
      ...tally.sum(),
      ...takeoverFacts(takeover),
      use,
      seq: this.#seq ?? null,
      longestOverlapSeconds: seconds(tally.longestOverlapMs),
      acceptedAfterTakeoverSeconds: seconds(tally.lastOldMs),
      signedByOld: this.#signedBy(takeover.from),
      signedByNew: this.#signedBy(takeover.to),
      propagation: [...propagation, ...this.#reports],
      locationReports: this.#reports.length > 0,
      checkers: checkerRows(checkers, tally),
      wrong: tally.wrongs,
      event,
      seconds: seconds(session.time.now() - startedAt),
      completed: problems.length === 0,
      problems,
    };
  }
}

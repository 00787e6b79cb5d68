/** Round after round, every checker is shown fans' tokens, from the first to the last, and forged ones. */
import type { Checker } from "./checker.ts";
import type { Fans } from "./fans.ts";
import type { Forger, Forgery } from "./forgeries.ts";
import type { Fan } from "./shown.ts";
import { phaseOf, type Takeover, type Tally } from "./tally.ts";

export interface RoundsOptions {
  readonly checkers: readonly Checker[];
  readonly fans: Fans;
  readonly tally: Tally;
  readonly takeover: Takeover;
  readonly forger: Forger;
  readonly issuer: string;
  readonly event: string;
  /** The mint's clock. */
  readonly now: () => number;
}

export class Rounds {
  readonly #options: RoundsOptions;
  /** One that is slow is not asked again before it has answered, and keeps nobody waiting. */
  readonly #busy = new Map<Checker, Promise<void>>();
  readonly #forgedTurns = new Map<Checker, number>();
  readonly #turns = new Map<Checker, number>();

  constructor(options: RoundsOptions) {
    this.#options = options;
  }

  /** Starts one with every checker that has nothing under way. Ends with those in this process. */
  async begin(): Promise<void> {
    const here: Promise<void>[] = [];
    for (const checker of this.#options.checkers) {
      if (this.#busy.has(checker)) continue;
      const work = this.#round(checker).finally(() => this.#busy.delete(checker));
      this.#busy.set(checker, work);
      if (checker.kind === "verifier") here.push(work);
    }
    await Promise.all(here);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#busy.values());
  }

  async #round(checker: Checker): Promise<void> {
    await checker.live();
    for (const fan of this.#fansFor(checker)) await this.#show(checker, fan);
    const newest = this.#options.fans.admitted.at(-1);
    if (newest !== undefined) await this.#forge(checker, newest);
  }

  async #show(checker: Checker, fan: Fan): Promise<void> {
    const { tally, takeover, now } = this.#options;
    const asked = now();
    const { admission, ticket } = await checker.check(fan);
    const when = { asked, answered: now(), takeover };
    tally.genuine(
      checker,
      { facts: fan.admissionFacts, what: "an admission", verdict: admission },
      when,
    );
    tally.genuine(checker, { facts: fan.ticketFacts, what: "a ticket", verdict: ticket }, when);
  }

  /** One forgery a round, each kind in its turn. */
  async #forge(checker: Checker, fan: Fan): Promise<void> {
    const { forger, tally, issuer, event } = this.#options;
    const turn = this.#forgedTurns.get(checker) ?? 0;
    this.#forgedTurns.set(checker, turn + 1);
    const all = await forger(fan, { issuer, event });
    const { what, token, shown }: Forgery = all[turn % all.length] as Forgery;
    const verdicts = await checker.check(shown);
    tally.forged(checker, what, verdicts[token]);
  }

  /**
   * Of all that still say something the oldest, the newest, and others in turn. Those that are over are shown a little
   * longer: they must be refused.
   */
  #fansFor(checker: Checker): readonly Fan[] {
    const { fans, now } = this.#options;
    const { clock, fansMax } = checker;
    const at = now();
    const live = fans.admitted.filter(
      ({ admissionFacts }) => phaseOf(admissionFacts, clock, at - OVER_SHOWN_MS) !== "over",
    );
    if (live.length <= fansMax) return live;
    const turn = this.#turns.get(checker) ?? 0;
    this.#turns.set(checker, turn + fansMax - 2);
    const others = Array.from(
      { length: fansMax - 2 },
      (_, index) => live[(turn + index) % live.length],
    );
    return [...new Set([live[0], live.at(-1), ...others])].filter((fan) => fan !== undefined);
  }
}

/** Each is shown a few times after its end. */
const OVER_SHOWN_MS = 2_000;

/** What a checker said, counted; and what of it was wrong. */
import { BOUNDARY_MS, REFUSALS_TOLD_MAX } from "../limits.ts";
import type { Checker, Verdict } from "./checker.ts";
import type { TokenFacts } from "./shown.ts";

export interface Counts {
  /** Good tokens that were shown and judged. */
  checked: number;
  /** Of these, refused. Must stay 0. */
  refused: number;
  /** Shown, and nothing was said of them. */
  unanswered: number;
  forgedChecked: number;
  /** Must stay 0. */
  forgedAccepted: number;
  /** Admissions after their end, by every clock within the tolerance. */
  overChecked: number;
  /** Must stay 0. */
  overAccepted: number;
}

export function noCounts(): Counts {
  return {
    ...{ checked: 0, refused: 0, unanswered: 0, forgedChecked: 0, forgedAccepted: 0 },
    ...{ overChecked: 0, overAccepted: 0 },
  };
}

export interface Wrong {
  readonly by: string;
  readonly what: string;
  readonly reason: string;
  readonly kid: string;
  /** Since it was signed. */
  readonly ageSeconds: number;
}

/** The rotation that goes on, as far as it has come. */
export interface Takeover {
  readonly from: string;
  readonly to: string;
  /** By the mint's clock; `undefined` before. */
  at: number | undefined;
}

/** What a token is by this clock: good for surely, over for surely, or too close to a boundary to tell. */
export function phaseOf(
  { nbf, iat, exp }: TokenFacts,
  { aheadMsMin, aheadMsMax, skewMs }: Checker["clock"],
  now: number,
): "good" | "over" | "unclear" {
  const begins = Math.max(nbf, iat) * 1_000 - skewMs;
  const ends = exp * 1_000 + skewMs;
  if (now + aheadMsMin >= ends + BOUNDARY_MS) return "over";
  const isGood = now + aheadMsMin >= begins + BOUNDARY_MS && now + aheadMsMax < ends - BOUNDARY_MS;
  return isGood ? "good" : "unclear";
}

export class Tally {
  readonly counts = new Map<Checker, Counts>();
  readonly wrongs: Wrong[] = [];
  /** When each checker first took something that the new key signed, milliseconds after the takeover. */
  readonly firstNewMs = new Map<Checker, number>();
  readonly firstOld = new Set<Checker>();
  /** The oldest token, since it was signed, that was taken although its key signs no more. */
  longestOverlapMs = 0;
  /** The longest time after the takeover at which one was. */
  lastOldMs = 0;

  of(checker: Checker): Counts {
    const known = this.counts.get(checker);
    if (known !== undefined) return known;
    const counts = noCounts();
    this.counts.set(checker, counts);
    return counts;
  }

  /** A genuine token. @param asked when it was shown, by the mint's clock */
  genuine(
    checker: Checker,
    { facts, what, verdict }: { facts: TokenFacts; what: string; verdict: Verdict },
    { asked, answered, takeover }: { asked: number; answered: number; takeover: Takeover },
  ): void {
    const counts = this.of(checker);
    // Good or over from the question to its answer, or it proves nothing.
    const phase = phaseOf(facts, checker.clock, asked);
    if (phase === "unclear" || phase !== phaseOf(facts, checker.clock, answered)) return;
    if (verdict.kind === "unanswered") {
      counts.unanswered += 1;
      return;
    }
    const age = answered - facts.iat * 1_000;
    const told = { by: checker.name, kid: facts.kid, ageSeconds: Math.round(age / 1_000) };
    if (phase === "over") {
      counts.overChecked += 1;
      if (verdict.kind !== "accepted") return;
      counts.overAccepted += 1;
      this.#tell({ ...told, what: `${what} that is over`, reason: "accepted" });
      return;
    }
    counts.checked += 1;
    if (verdict.kind === "refused") {
      counts.refused += 1;
      this.#tell({ ...told, what, reason: verdict.reason });
      return;
    }
    this.#accepted(checker, facts, { asked, age, takeover });
  }

  forged(checker: Checker, what: string, verdict: Verdict): void {
    const counts = this.of(checker);
    if (verdict.kind === "unanswered") return;
    counts.forgedChecked += 1;
    if (verdict.kind === "refused") return;
    counts.forgedAccepted += 1;
    this.#tell({ by: checker.name, what, reason: "accepted", kid: "", ageSeconds: 0 });
  }

  sum(): Counts {
    const all = noCounts();
    for (const counts of this.counts.values())
      for (const name of Object.keys(all) as (keyof Counts)[]) all[name] += counts[name];
    return all;
  }

  #accepted(
    checker: Checker,
    { kid }: TokenFacts,
    { asked, age, takeover }: { asked: number; age: number; takeover: Takeover },
  ): void {
    if (kid === takeover.from) this.firstOld.add(checker);
    if (takeover.at === undefined) return;
    const since = asked - takeover.at;
    if (kid === takeover.to && !this.firstNewMs.has(checker))
      this.firstNewMs.set(checker, Math.max(0, since));
    if (kid !== takeover.from || since < 0) return;
    this.longestOverlapMs = Math.max(this.longestOverlapMs, age);
    this.lastOldMs = Math.max(this.lastOldMs, since);
  }

  #tell(wrong: Wrong): void {
    if (this.wrongs.length < REFUSALS_TOLD_MAX) this.wrongs.push(wrong);
  }
}

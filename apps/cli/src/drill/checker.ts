/** Whoever is asked whether a token is good: a verifier in this process, or a real location. */
import type { Shown } from "./shown.ts";

export type Verdict =
  | { readonly kind: "accepted" }
  | { readonly kind: "refused"; readonly reason: string }
  /** It said nothing of the token: away, or overloaded. */
  | { readonly kind: "unanswered"; readonly reason: string };

export interface Verdicts {
  readonly admission: Verdict;
  readonly ticket: Verdict;
}

export interface Checker {
  readonly name: string;
  readonly kind: "verifier" | "location";
  /** Its clock less the mint's is surely between these, and it tolerates so much. */
  readonly clock: {
    readonly aheadMsMin: number;
    readonly aheadMsMax: number;
    readonly skewMs: number;
  };
  /** Its copy of the key set is kept old: nothing new is to reach it. */
  readonly isHeldBack: boolean;
  /** So many fans a round. */
  readonly fansMax: number;
  /** Its traffic of this moment: asks for what is due. Never rejects. */
  live(): Promise<void>;
  /** Never rejects. */
  check(shown: Shown): Promise<Verdicts>;
  /** Whether it has the key set that came with the takeover. */
  hasSet(mark: SetMark): boolean;
}

/** How a set is told from the ones before it. */
export interface SetMark {
  /** The key that signed before: in the new set it has an end. */
  readonly retiring: string;
  /** The successor that was staged with the takeover, where there was room for one. */
  readonly staged: string | undefined;
}

export const ACCEPTED: Verdict = { kind: "accepted" };

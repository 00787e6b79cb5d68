/** Step 1: is this admission good, now, for this event, visitor and action? Denies by default. */
import { visitorSchema } from "@vestibule/contracts/line-api";
import { parse } from "@vestibule/contracts/parse";
import type { EpochSeconds } from "@vestibule/kernel/units";
import type { Log } from "@vestibule/service/log";
import { problem } from "@vestibule/service/problems";
import { judgeAdmission } from "@vestibule/token/judge-admission";
import { hashVisitor } from "@vestibule/token/visitor";
import type { Attempt } from "./attempt.ts";
import type { MintKnowledge } from "./mint-knowledge.ts";

/** What the later steps need to know of a good admission. */
export interface Admitted {
  readonly event: string;
  /** The visitor's hash, never the secret. */
  readonly visitor: string;
  readonly jti: string;
  readonly number: number;
  /** The second in which its slot opened (the admission's `nbf`). */
  readonly slot: EpochSeconds;
}

/**
 * `over`: it was good and its time has run out, or a hold is on: nothing new is sold for it, and a
 * repeated request still gets its earlier answer.
 */
export type Admittance =
  | { readonly kind: "good"; readonly admitted: Admitted }
  | { readonly kind: "over"; readonly visitor: string; readonly refusal: Error };

export interface AdmitDependencies {
  readonly mint: MintKnowledge;
  readonly issuer: string;
  readonly skewSeconds: number;
  readonly log: Log;
}

/** How long a caller waits when nothing is known of the mint yet, seconds. */
const UNKNOWN_RETRY_AFTER_SECONDS = 3;
const HELD_RETRY_AFTER_SECONDS = 10;

/**
 * @throws AppError `admission-required` for whatever cannot be verified, always with the same
 * answer; `event-not-found`; `unavailable` while no keys or no manifest are known.
 */
export async function admit(
  attempt: Attempt,
  { mint, issuer, skewSeconds, log }: AdmitDependencies,
): Promise<Admittance> {
  const { event, admission: text, visitor, now } = attempt;
  const terms = await mint.terms(event, now);
  if (terms === "no-such-event") throw problem("event-not-found");
  const keys = mint.keys(now);
  if (terms === undefined || keys === undefined) {
    throw unavailable("nothing is known of the mint yet");
  }
  if (text === "" || !parse(visitorSchema, visitor).ok) throw refusal("missing");

  const { lifetimeSeconds } = terms;
  const action = "purchase" as const;
  const verdict = await judgeAdmission(
    text,
    { keys, issuer, event, lifetimeSeconds, action, visitor, now, skewSeconds },
    {
      newerKeys: async () => ((await mint.newerKeys(now)) ? mint.keys(now) : undefined),
      drip: () => mint.drip(event, now),
    },
  );
  if (verdict.ok) {
    const { sub, jti, number, nbf: slot } = verdict.value;
    return { kind: "good", admitted: { event, visitor: sub, jti, number, slot } };
  }
  const { reason } = verdict.refusal;
  log.info("admission-refused", { event, reason });
  if (reason === "cannot-verify") throw unavailable("this runtime cannot verify");
  if (reason === "held") {
    const held = problem("held", { retryAfterSeconds: HELD_RETRY_AFTER_SECONDS });
    return over(hashVisitor(visitor), held);
  }
  if (reason === "over" || reason === "cut") return over(hashVisitor(visitor), refusal(reason));
  throw refusal(reason);
}

function over(visitor: string, error: Error): Admittance {
  return { kind: "over", visitor, refusal: error };
}

/** One dull answer: what was wrong is for the log. */
function refusal(internal: string): Error {
  return problem("admission-required", { internal });
}

function unavailable(internal: string): Error {
  return problem("unavailable", { internal, retryAfterSeconds: UNKNOWN_RETRY_AFTER_SECONDS });
}

/** Step 1: is this admission good, now, for this event, visitor and action? Denies by default. */
import { visitorSchema } from "@vestibule/contracts/line-api";
import { parse } from "@vestibule/contracts/parse";
import { addMs, type EpochSeconds, toMs } from "@vestibule/kernel/units";
import type { Log } from "@vestibule/service/log";
import { problem } from "@vestibule/service/problems";
import { judgeAdmission } from "@vestibule/token/judge-admission";
import { type Admission, verifyAdmission } from "@vestibule/token/verify-admission";
import { hashVisitor } from "@vestibule/token/visitor";
import type { Attempt } from "./attempt.ts";
import {
  CLOCK_RETRY_AFTER_SECONDS,
  HELD_RETRY_AFTER_SECONDS,
  UNKNOWN_RETRY_AFTER_SECONDS,
} from "./limits.ts";
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
 * repeated request still gets its earlier answer. `genuine` says what it was good for, for a credit.
 */
export type Admittance =
  | { readonly kind: "good"; readonly admitted: Admitted }
  | {
      readonly kind: "over";
      readonly visitor: string;
      readonly refusal: Error;
      readonly genuine: () => Promise<Admitted | undefined>;
    };

export interface AdmitDependencies {
  readonly mint: MintKnowledge;
  readonly issuer: string;
  readonly skewSeconds: number;
  readonly log: Log;
}

/**
 * @throws AppError `admission-required` for whatever cannot be verified, always with the same
 * answer; `event-not-found`; `unavailable` while no keys or no manifest are known; `clock-wrong` while our own clock
 * surely is: what is over could not be told from what is valid (design section 10).
 */
export async function admit(
  attempt: Attempt,
  { mint, issuer, skewSeconds, log }: AdmitDependencies,
): Promise<Admittance> {
  const { event, admission: text, visitor, now } = attempt;
  const [terms] = await Promise.all([mint.terms(event, now), mint.whenClockAsked()]);
  if (mint.isClockWrong()) {
    // Of an earlier request it says nothing: that one may have bought, and its answer may have been lost.
    const detail =
      "This request did nothing: what is valid and what is over cannot be told apart. " +
      "Send it again with the same Idempotency-Key.";
    throw problem("clock-wrong", { detail, retryAfterSeconds: CLOCK_RETRY_AFTER_SECONDS });
  }
  if (terms === "no-such-event") throw problem("event-not-found");
  const keys = mint.keys(now);
  if (terms === undefined || keys === undefined) {
    throw unavailable("nothing is known of the mint yet");
  }
  if (text === "" || !parse(visitorSchema, visitor).ok) throw refusal("missing");

  const { lifetimeSeconds } = terms;
  const action = "purchase" as const;
  const rules = { keys, issuer, event, lifetimeSeconds, action, visitor, now, skewSeconds };
  const verdict = await judgeAdmission(text, rules, {
    newerKeys: async () => ((await mint.newerKeys(now)) ? mint.keys(now) : undefined),
    keys: () => mint.keys(now),
    drip: () => mint.drip(event, now),
  });
  if (verdict.ok) return { kind: "good", admitted: admittedBy(verdict.value) };
  const { reason } = verdict.refusal;
  log.info("admission-refused", { event, reason });
  if (reason === "cannot-verify") throw unavailable("this runtime cannot verify");
  if (reason !== "over" && reason !== "cut" && reason !== "held") throw refusal(reason);
  /** Cut and held are good but for that; what is over was good in its last moment. */
  const goodAt = "until" in verdict.refusal ? addMs(toMs(verdict.refusal.until), -1) : now;
  return {
    kind: "over",
    visitor: hashVisitor(visitor),
    refusal:
      reason === "held"
        ? problem("held", { retryAfterSeconds: HELD_RETRY_AFTER_SECONDS })
        : refusal(reason),
    genuine: async () => {
      const again = await verifyAdmission(text, {
        ...rules,
        keys: mint.keys(now) ?? keys,
        now: goodAt,
      });
      return again.ok ? admittedBy(again.value) : undefined;
    },
  };
}

function admittedBy({ event, sub, jti, number, nbf }: Admission): Admitted {
  return { event, visitor: sub, jti, number, slot: nbf };
}

/** One dull answer: what was wrong is for the log. */
function refusal(internal: string): Error {
  return problem("admission-required", { internal });
}

function unavailable(internal: string): Error {
  return problem("unavailable", { internal, retryAfterSeconds: UNKNOWN_RETRY_AFTER_SECONDS });
}

/** All checks over one run. */
import type { Books, Trace } from "../trace.ts";
import { admissionViolations, enteredInSilence, refusedPurchases } from "./admission-law.ts";
import { bookViolations, purchaseViolations } from "./books-law.ts";
import {
  type DripTerms,
  dripViolations,
  lateViolations,
  standstillViolations,
} from "./drip-law.ts";
import { numberViolations, placeViolations, statementViolations } from "./places-law.ts";
import { silences, unexplainedSilences } from "./silences.ts";
import { slotsOf } from "./slots.ts";

export interface Verdict {
  /** Empty: every law held. */
  readonly violations: readonly string[];
  /** How much was looked at, by name. */
  readonly checked: Readonly<Record<string, number>>;
}

/** Everything that a fan may hear, whatever is down. Nothing else: above all no 500, and no word of a bad ticket. */
const ANSWERS: Readonly<Record<string, readonly string[]>> = {
  join: ["200", "201", "unavailable"],
  claim: ["201", "too-early", "slot-over", "unavailable"],
  enter: ["200", "429"],
  buy: ["201", "already-spent", "sold-out", "in-progress", "too-many-requests", "unavailable"],
};

export function judge(trace: Trace, books: Books, terms: DripTerms): Verdict {
  const { joined, claimed, statements, entered, bought } = trace;
  const { slots, violations: moved } = slotsOf(trace.segments);
  const quiet = silences(statements);
  const won = bought.filter(({ status }) => status === 201);
  return {
    violations: [
      ...numberViolations(trace),
      ...placeViolations(trace, { slots, claimWindowMs: terms.claimWindowMs }),
      ...statementViolations(statements),
      ...moved,
      ...dripViolations(slots, claimed, terms),
      ...lateViolations(slots, statements),
      ...standstillViolations(slots, trace.suffered, terms),
      ...purchaseViolations(bought),
      ...bookViolations(trace, slots, books),
      ...admissionViolations(entered, quiet),
      ...refusedPurchases(trace),
      ...unexplainedSilences(quiet, trace.suffered, terms.mints),
      ...calmViolations(trace),
    ],
    checked: {
      joins: joined.length,
      "tickets shown again": joined.filter(({ shown }) => shown !== undefined).length,
      "statements seen": statements.length,
      slots: slots.size,
      claims: claimed.length,
      "admissions shown": entered.filter(({ forged }) => !forged).length,
      "forged admissions shown": entered.filter(({ forged }) => forged).length,
      "answers to purchases": bought.length,
      orders: books.orders.length,
      "orders answered again": won.length - new Set(won.map(({ orderId }) => orderId)).size,
      "times without a mint": quiet.length,
      "longest of them, ms": Math.max(0, ...quiet.map(({ from, until }) => until - from)),
      "fans who went in meanwhile": enteredInSilence(entered, quiet),
      "keys that signed admissions": new Set(claimed.map(({ kid }) => kid)).size,
      "terms of leaders": books.epoch,
    },
  };
}

/** Everybody was let in or told why not, nobody heard what they should not, and nothing died of anything but our kills. */
export function calmViolations({
  endings,
  answers,
  troubles,
}: Pick<Trace, "endings" | "answers" | "troubles">): readonly string[] {
  const stuck = endings
    .filter(({ ending }) => ending === "still-waits" || ending === "could-not-buy")
    .map(({ fan, ending, why }) => `liveness: ${fan} ${ending} when all is calm: ${why}`);
  const odd = [...answers]
    .filter(([answer]) => {
      const [what = "", came = ""] = answer.split(" ");
      return came !== "nothing" && ANSWERS[what]?.includes(came) !== true;
    })
    .map(([answer, count]) => `nobody should hear this: ${answer}, ${count} times`);
  return [...stuck, ...odd, ...troubles];
}

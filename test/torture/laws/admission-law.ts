/** Laws 5 and 9, by what became of admissions at the locations. */
import type { Entered, Trace } from "../trace.ts";
import type { Silence } from "./silences.ts";

/** Of a token, not of a purchase. */
const REFUSALS = new Set(["admission-required", "forbidden", "unauthorized"]);

/** In its time a genuine admission is let in everywhere, mint or no mint; nothing else ever is. */
export function admissionViolations(
  entered: readonly Entered[],
  quiet: readonly Silence[],
): readonly string[] {
  const found: string[] = [];
  for (const { edge, number, opensAt, closesAt, askedAt, at, forged, status } of entered) {
    const isIn = status === 200;
    if (forged && isIn) found.push(`law 5: ${edge} let in a forged admission of ${number}`);
    if (forged || isIn || askedAt < opensAt || at >= closesAt) continue;
    const isQuiet = quiet.some(({ from, until }) => askedAt >= from && at <= until);
    const law = isQuiet ? "law 9: while no mint answers," : "law 5:";
    found.push(`${law} ${edge} answers ${status} to the good admission of ${number}`);
  }
  return found;
}

/** The purchase API refuses none either. */
export function refusedPurchases({
  bought,
  claimed,
}: Pick<Trace, "bought" | "claimed">): readonly string[] {
  const closes = new Map(claimed.map(({ jti, closesAt }) => [jti, closesAt]));
  return bought
    .filter(({ code, jti, at }) => REFUSALS.has(code) && at < (closes.get(jti) ?? 0))
    .map(
      ({ code, number }) => `law 5: ${code} for a purchase with the good admission of ${number}`,
    );
}

/** How many fans went in while no mint answered. */
export function enteredInSilence(entered: readonly Entered[], quiet: readonly Silence[]): number {
  const isQuiet = ({ askedAt, at }: Entered): boolean =>
    quiet.some(({ from, until }) => askedAt >= from && at <= until);
  const inside = entered.filter((one) => !one.forged && one.status === 200 && isQuiet(one));
  return new Set(inside.map(({ number }) => number)).size;
}

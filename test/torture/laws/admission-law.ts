/** Laws 5 and 9, by what became of admissions at the locations. */
import type { Entered, Statement, Trace } from "../trace.ts";

/** A time in which no mint answered anybody: from the last answer before it until the next one was asked for. */
export interface Silence {
  readonly from: number;
  readonly until: number;
}

const SILENCE_MS_MIN = 1_500;
/** No fault lasts 10 s, and a takeover takes 5 s; some follow each other. */
const SILENCE_MS_MAX = 30_000;
/** Of a token, not of a purchase. */
const REFUSALS = new Set(["admission-required", "forbidden", "unauthorized"]);

export function silences(statements: readonly Statement[]): readonly Silence[] {
  const found: Silence[] = [];
  const answers = statements
    .filter(({ source }) => source.startsWith("mint"))
    .toSorted((a, b) => a.askedAt - b.askedAt);
  let last = Infinity;
  for (const { askedAt, at } of answers) {
    if (askedAt - last >= SILENCE_MS_MIN) found.push({ from: last, until: askedAt });
    last = last === Infinity ? at : Math.max(last, at);
  }
  return found;
}

/** Some mint leads again soon, whatever happened to the others. */
export function longSilences(quiet: readonly Silence[]): readonly string[] {
  return quiet
    .map(({ from, until }) => until - from)
    .filter((ms) => ms > SILENCE_MS_MAX)
    .map((ms) => `liveness: no mint answered for ${ms} ms`);
}

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

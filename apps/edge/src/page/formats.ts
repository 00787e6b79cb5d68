/** Figures and lengths of time as a language, or its way in one country, writes them. */

/** Each method in the locale's own digits. */
export interface Figures {
  number(n: number): string;
  /** Of a text that has plurals. */
  category(n: number): Intl.LDMLPluralRule;
  /** `5 min`, or `3–5 min`; of minutes or hours. */
  between(unit: "minute" | "hour", from: number, to: number): string;
  /** `90 seconds`, `3 minutes`, `2 hours`: never more than there is. */
  lengthOfTime(seconds: number): string;
  /** `9:05`, or `1:09:05` above an hour; never below zero. Rounded up, so that 0:00 means now. */
  countdown(ms: number): string;
}

export interface Formats extends Figures {
  /** A moment, with the zone unless it is surely the visitor's own (AO-02). `now` by the mint's clock: the device's may be hours off. */
  time(at: number, now: number): string;
}

/** A moment that is further away is told with its day. */
export const DAY_NEEDED_MS = 43_200_000;

/** Each formatter is made when it is first of use: that takes longer than all the rest of a page. */
export function figuresOf(locale: string): Figures {
  const made = new Map<string, Intl.NumberFormat>();
  const format = (name: string, options?: Intl.NumberFormatOptions): Intl.NumberFormat => {
    let found = made.get(name);
    if (found === undefined) made.set(name, (found = new Intl.NumberFormat(locale, options)));
    return found;
  };
  const unitOf = (unit: string, unitDisplay: "short" | "long"): Intl.NumberFormat =>
    format(unit + unitDisplay, { style: "unit", unit, unitDisplay });
  const two = (n: number): string => format("two", { minimumIntegerDigits: 2 }).format(n);
  let rules: Intl.PluralRules | undefined;
  const number = (n: number): string => format("").format(n);
  return {
    number,
    category: (n) => (rules ??= new Intl.PluralRules(locale)).select(n),
    between(unit, from, to) {
      const short = unitOf(unit, "short");
      // Browsers before 2022 have no ranges.
      const text =
        from < to && "formatRange" in short
          ? short.formatRange(from, to)
          : (from < to ? `${number(from)}–` : "") + short.format(to);
      return text.replaceAll(" ", "\u00a0");
    },
    lengthOfTime(seconds) {
      const minutes = Math.floor(seconds / 60);
      if (seconds < 120) return unitOf("second", "long").format(seconds);
      if (minutes < 120) return unitOf("minute", "long").format(minutes);
      return unitOf("hour", "long").format(Math.floor(minutes / 60));
    },
    countdown(ms) {
      const seconds = Math.max(0, Math.ceil(ms / 1000));
      const hours = Math.floor(seconds / 3600);
      const minutes = Math.floor(seconds / 60) % 60;
      const rest = `${hours > 0 ? two(minutes) : number(minutes)}:${two(seconds % 60)}`;
      return hours > 0 ? `${number(hours)}:${rest}` : rest;
    },
  };
}

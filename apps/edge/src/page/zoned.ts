/** Figures and moments of the first view, which the server writes. */
import { createBoundedMemo } from "../admission/bounded-memo.ts";
import { FORMATS_MAX } from "../limits.ts";
import type { Visit } from "../visit.ts";
import { DAY_NEEDED_MS, type Figures, type Formats, figuresOf } from "./formats.ts";

const bounds = { entriesMax: FORMATS_MAX, charsMax: Infinity };
const figures = createBoundedMemo<Figures>(bounds);
const times = createBoundedMemo<Intl.DateTimeFormat>(bounds);

/**
 * The visitor's zone where the platform knows it, else UTC; it is named, since nobody else says whose it is (AO-02).
 * The script puts the device's own in its place.
 */
export function zoneOf({ request }: Visit): string {
  const cf = (request as { cf?: { timezone?: unknown } }).cf;
  return typeof cf?.timezone === "string" ? cf.timezone : "UTC";
}

export function formatsOf(zone: string, { locale, now }: { locale: string; now: number }): Formats {
  let known = figures.get(locale);
  if (known === undefined) figures.put(locale, (known = figuresOf(locale)), 0);
  return {
    ...known,
    time: (at) => timeFormat(locale, zone, at - now > DAY_NEEDED_MS).format(at),
  };
}

function timeFormat(locale: string, timeZone: string, withDay: boolean): Intl.DateTimeFormat {
  const key = `${locale} ${timeZone} ${withDay}`;
  let format = times.get(key);
  if (format === undefined) {
    const day = { day: "numeric", month: "short", year: "numeric" } as const;
    const options: Intl.DateTimeFormatOptions = {
      ...(withDay ? day : { second: "2-digit" }),
      ...{ hour: "numeric", minute: "2-digit", timeZoneName: "short" },
    };
    try {
      format = new Intl.DateTimeFormat(locale, { ...options, timeZone });
    } catch {
      // A zone that this runtime does not know.
      format = new Intl.DateTimeFormat(locale, { ...options, timeZone: "UTC" });
    }
    times.put(key, format, 0);
  }
  return format;
}

/** Times, spans and texts of others, for people. Pure. */

/** `4 min 25 s`, `3 h 10 min`, `12 d 4 h`: two units at most, whole seconds. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  const [d, h, min, s] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3_600) % 24,
    Math.floor(seconds / 60) % 60,
    seconds % 60,
  ];
  const parts =
    d > 0
      ? [`${d} d`, h > 0 ? `${h} h` : ""]
      : h > 0
        ? [`${h} h`, min > 0 ? `${min} min` : ""]
        : min > 0
          ? [`${min} min`, s > 0 ? `${s} s` : ""]
          : [`${s} s`];
  return parts.filter((part) => part !== "").join(" ");
}

export interface TimeOfDay {
  readonly now: number;
  readonly timeZone: string | undefined;
}

/** `01:22:05`, with the date when it is not today's, in the reader's own time zone. */
export function clockTime(at: number, { now, timeZone }: TimeOfDay): string {
  const zone = timeZone === undefined ? {} : { timeZone };
  // The Swedish way to write a date is the one of ISO 8601.
  const day = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", ...zone });
  const time = new Intl.DateTimeFormat("sv-SE", { timeStyle: "medium", ...zone }).format(at);
  const date = day.format(at);
  return date === day.format(now) ? time : `${date} ${time}`;
}

/** `UTC`, `GMT+2`: said once beside times. */
export function zoneName(at: number, timeZone: string | undefined): string {
  const zone = timeZone === undefined ? {} : { timeZone };
  const parts = new Intl.DateTimeFormat("en", { timeZoneName: "short", ...zone }).formatToParts(at);
  return parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
}

/** A text that came over the network, as one line without anything that a terminal obeys. */
export function oneLine(text: string, charsMax = 300): string {
  const plain = text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ").trim();
  return plain.length > charsMax ? `${plain.slice(0, charsMax - 1)}…` : plain;
}

/** `24,310` */
export function figure(value: number): string {
  return value.toLocaleString("en");
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${figure(count)} ${count === 1 ? one : many}`;
}

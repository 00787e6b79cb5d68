/** An event's own looks, as the mint takes them: checked by `packages/looks`, and kept as that has written them. */
import { deflateRawSync } from "node:zlib";
import type { EventSettings } from "@vestibule/contracts/event-settings";
import type { Mistake } from "@vestibule/contracts/parse";
import { checkLooks } from "@vestibule/looks/check-looks";

type LooksAndAccent = Partial<Pick<EventSettings, "looks" | "accent">>;

/** What is wrong with looks that have their form, each by its field of the settings (`looks.logo`). */
export function looksMistakes(settings: LooksAndAccent): readonly Mistake[] {
  const checked = check(settings);
  if (checked === undefined || checked.ok) return [];
  return checked.refusal.map(({ field, message }) => ({
    field: field === "" ? "looks" : `looks.${field}`,
    message,
  }));
}

/** The looks as they are kept. Those with mistakes come back as they are, to be refused with all others. */
export function keptLooks(settings: LooksAndAccent): Pick<EventSettings, "looks"> {
  const checked = check(settings);
  return checked?.ok === true ? { looks: checked.value } : {};
}

function check({ looks, accent = "" }: LooksAndAccent): ReturnType<typeof checkLooks> | undefined {
  const compressedBytes = (text: string) => deflateRawSync(text).length;
  return looks && checkLooks(looks, { accent, compressedBytes });
}

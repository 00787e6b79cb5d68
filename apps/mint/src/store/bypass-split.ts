/**
 * Bypass rules with conditions are kept and published apart from the others, under a name of their own: a mint or a
 * location of an older release takes `bypass` as it is, and would open what a condition guards (ADR 18).
 */
import type { BypassRule, EventSettings } from "@vestibule/contracts/event-settings";

type PlacedRule = BypassRule & { rule: number };

/** As a manifest has them, and the store. */
// A type, which JSON takes, and no interface.
export type SplitBypass = {
  bypass: (BypassRule & { rule?: number })[];
  conditionalBypass?: PlacedRule[];
};

/** Each with its place among all, where places would be lost. */
export function splitBypass(rules: readonly BypassRule[]): SplitBypass {
  const placed = rules.map((said, rule): PlacedRule => ({ ...said, rule }));
  const conditional = placed.filter(isConditional);
  if (conditional.length === 0) return { bypass: [...rules] };
  return {
    bypass: placed.filter((said) => !isConditional(said)),
    conditionalBypass: conditional,
  };
}

export function isConditional({ networks, services }: BypassRule): boolean {
  return networks !== undefined || services !== undefined;
}

type StoredSettings = Omit<EventSettings, "bypass"> & SplitBypass;

export function toStored(settings: EventSettings): StoredSettings {
  return { ...settings, ...splitBypass(settings.bypass) };
}

export function fromStored({ conditionalBypass = [], ...settings }: StoredSettings): EventSettings {
  if (conditionalBypass.length === 0) return settings;
  const plain = settings.bypass.map((said, at): PlacedRule => ({ ...said, rule: said.rule ?? at }));
  const bypass = [...plain, ...conditionalBypass]
    .toSorted((one, other) => one.rule - other.rule)
    .map(withoutPlace);
  return { ...settings, bypass };
}

function withoutPlace(placed: PlacedRule): BypassRule {
  const { rule: _, ...said } = placed;
  return said;
}

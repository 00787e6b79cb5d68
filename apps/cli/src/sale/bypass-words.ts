/** Bypass rules in words: who passes without a place, and where. */
import { oneLine, plural } from "../terminal/words.ts";

interface SaidRule {
  readonly paths?: readonly string[];
  readonly methods?: readonly string[];
  readonly networks?: readonly string[];
  readonly services?: readonly string[];
}

/** @param rules as the mint says them. @returns a sentence for each, in their order. */
export function bypassWords(rules: readonly unknown[]): readonly string[] {
  return rules.map((rule) => {
    const { paths = [], methods, networks, services } = rule as SaidRule;
    const who = [
      ...(services === undefined ? [] : [`shows the token of ${either(services)}`]),
      ...(networks === undefined ? [] : [`comes from ${either(networks)}`]),
    ];
    const asked = methods === undefined ? "every method" : methods.join(", ");
    const whoever = who.length === 0 ? "everybody" : `whoever ${who.join(" and ")}`;
    return oneLine(`${asked} of ${paths.join(", ")}: ${whoever}`, 300);
  });
}

/** In a line. */
export function bypassSummary(rules: readonly unknown[]): string {
  if (rules.length === 0) return "none";
  return `${plural(rules.length, "rule")}: ${bypassWords(rules).join("; ")}`;
}

function either(names: readonly string[]): string {
  return names.length < 2
    ? (names[0] ?? "nobody")
    : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

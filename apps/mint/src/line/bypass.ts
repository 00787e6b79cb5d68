import type { EventSettings } from "@vestibule/contracts/event-settings";
import type { Mistake } from "@vestibule/contracts/parse";
import { isConditional } from "../store/bypass-split.ts";

/**
 * A rule that takes all of a protected path out again, for every method and everybody: then the path is not protected, and
 * belongs in no event's `paths`. Nobody means that (law 10).
 */
export function bypassMistakes({
  paths = [],
  bypass = [],
}: Partial<Pick<EventSettings, "paths" | "bypass">>): readonly Mistake[] {
  return bypass.flatMap((rule, at) => {
    if (rule.methods !== undefined || isConditional(rule)) return [];
    return rule.paths.flatMap((pattern, index) => {
      const whole = paths.find((path) => covers(pattern, path));
      if (whole === undefined) return [];
      const message = `Opens all of ${whole} to everybody: name methods, networks or services, or leave the path unprotected`;
      return [{ field: `bypass.${at}.paths.${index}`, message }];
    });
  });
}

function covers(pattern: string, path: string): boolean {
  return pattern.endsWith("*") ? path.startsWith(pattern.slice(0, -1)) : pattern === path;
}

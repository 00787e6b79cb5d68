/** Which event, if any, a request belongs to. Compiled once per manifest. */
import type { ManifestClaims, ManifestEvent } from "@vestibule/contracts/statements";
import type { ReadPath } from "./path.ts";

export type Route =
  /** In no event, or under a bypass rule. */
  | { readonly kind: "open" }
  | { readonly kind: "protected"; readonly event: ManifestEvent }
  /** Protected under one reading of its path and not under another: refused, not guessed. */
  | { readonly kind: "ambiguous" }
  /** A protected path on a host that no event names: all hosts share one origin, so it stays shut. */
  | { readonly kind: "unknown-host" };

interface Pattern {
  readonly text: string;
  readonly prefix: boolean;
}

interface CompiledEvent {
  readonly event: ManifestEvent;
  readonly paths: readonly Pattern[];
  readonly bypass: readonly {
    readonly paths: readonly Pattern[];
    readonly methods: ReadonlySet<string> | undefined;
  }[];
}

export interface RouteTable {
  readonly manifest: ManifestClaims;
  /** Host as in the URL, lower case, with a port that is not the scheme's own. */
  match(request: { host: string; path: ReadPath; method: string }): Route;
  event(name: string): ManifestEvent | undefined;
}

export function compileRoutes(manifest: ManifestClaims): RouteTable {
  const all = manifest.events.map(compileEvent);
  const byHost = new Map<string, CompiledEvent[]>();
  for (const compiled of all) {
    for (const host of compiled.event.hosts) {
      byHost.set(host, [...(byHost.get(host) ?? []), compiled]);
    }
  }
  const byName = new Map(manifest.events.map((event) => [event.event, event]));
  return {
    manifest,
    event: (name) => byName.get(name),
    match: ({ host, path, method }) => {
      const events = byHost.get(host);
      if (events === undefined) {
        return isProtected(all, path) ? { kind: "unknown-host" } : { kind: "open" };
      }
      return matchEvents(events, path, method);
    },
  };
}

function matchEvents(events: readonly CompiledEvent[], path: ReadPath, method: string): Route {
  const clear = path.otherReadings.length === 0 && !path.malformed;
  if (!clear) {
    if (!isProtected(events, path)) return { kind: "open" };
    // Every reading in the same event, and well formed: there is nothing to guess.
    const [first, ...rest] = [path.normal, ...path.otherReadings].map(
      (reading) => longestMatch(events, reading)?.event,
    );
    const agreed = first !== undefined && rest.every((event) => event === first);
    if (!agreed || path.malformed) return { kind: "ambiguous" };
    return { kind: "protected", event: first };
  }
  const found = longestMatch(events, path.normal);
  if (found === undefined) return { kind: "open" };
  const bypassed = found.bypass.some(
    (rule) =>
      (rule.methods === undefined || rule.methods.has(method)) &&
      rule.paths.some((pattern) => matches(pattern, path.normal)),
  );
  return bypassed ? { kind: "open" } : { kind: "protected", event: found.event };
}

function isProtected(events: readonly CompiledEvent[], path: ReadPath): boolean {
  return [path.normal, ...path.otherReadings].some(
    (reading) => longestMatch(events, reading) !== undefined,
  );
}

/** The event with the longest pattern that matches: `/events/spring*` wins over `/events*`. */
function longestMatch(events: readonly CompiledEvent[], path: string): CompiledEvent | undefined {
  let best: CompiledEvent | undefined;
  let bestLength = -1;
  for (const compiled of events) {
    for (const pattern of compiled.paths) {
      const weight = pattern.text.length * 2 + (pattern.prefix ? 0 : 1);
      if (weight > bestLength && matches(pattern, path)) {
        best = compiled;
        bestLength = weight;
      }
    }
  }
  return best;
}

function matches({ text, prefix }: Pattern, path: string): boolean {
  return prefix ? path.startsWith(text) : path === text;
}

function compileEvent(event: ManifestEvent): CompiledEvent {
  return {
    event,
    paths: event.paths.map(compilePattern),
    bypass: event.bypass.map((rule) => ({
      paths: rule.paths.map(compilePattern),
      methods: rule.methods === undefined ? undefined : new Set(rule.methods),
    })),
  };
}

function compilePattern(pattern: string): Pattern {
  const prefix = pattern.endsWith("*");
  return { text: prefix ? pattern.slice(0, -1) : pattern, prefix };
}

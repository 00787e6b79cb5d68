/** Which event, if any, a request belongs to. Compiled once per manifest. */
import { ROUTE_CHARS_MAX } from "@vestibule/contracts/limits";
import type { ManifestClaims, ManifestEvent } from "@vestibule/contracts/statements";
import type { EpochMs } from "@vestibule/kernel/units";
import type { EdgeConfig } from "../config.ts";
import type { Exemption } from "../exempted.ts";
import { type ConditionalRule, compileConditional, rulesFor } from "./conditional-rules.ts";
import { type ReadPath, decodeOnce } from "./path.ts";
import { type Pattern, compilePattern, matches } from "./pattern.ts";

export type Route =
  /** In no event, or under a bypass rule. */
  | { readonly kind: "open"; readonly exemption: Exemption | undefined }
  | {
      readonly kind: "protected";
      readonly event: ManifestEvent;
      /** Rules of this path and method that pass it where their conditions hold; absent: the event has none at all. */
      readonly conditional: readonly ConditionalRule[] | undefined;
    }
  /** Protected under one reading of its path and not under another, or too long to be read: refused, not guessed. */
  | { readonly kind: "ambiguous" }
  /** Protected on other hosts only, which have the same origin: it stays shut. */
  | { readonly kind: "unknown-host" };

const OPEN: Route = { kind: "open", exemption: undefined };
const NO_RULES: readonly ConditionalRule[] = [];

/** More than any pattern weighs. */
const LIVE_WEIGHT = 8 * ROUTE_CHARS_MAX;

/** What protects is read as widely as any server may: without regard to case, decoded as well, with a slash behind it. */
interface WidePattern extends Pattern {
  readonly folded: string;
  /** `undefined` when there is nothing to decode. */
  readonly decoded: string | undefined;
}

interface CompiledEvent {
  readonly event: ManifestEvent;
  readonly paths: readonly WidePattern[];
  readonly bypass: readonly {
    readonly paths: readonly Pattern[];
    readonly methods: ReadonlySet<string> | undefined;
    readonly rule: number;
  }[];
  readonly conditional: readonly ConditionalRule[] | undefined;
}

export interface RoutedRequest {
  readonly host: string;
  readonly path: ReadPath;
  readonly method: string;
  readonly now: EpochMs;
}

export interface RouteTable {
  readonly manifest: ManifestClaims;
  /** Of all events. */
  readonly hosts: readonly string[];
  /** Host as in the URL, lower case, with a port that is not the scheme's own. */
  match(request: RoutedRequest): Route;
  event(name: string): ManifestEvent | undefined;
}

/**
 * @param originHost `origin`: the origin is asked under one name for all hosts, so that what is protected on one of them
 *   is open on none. `visitor`: it tells them apart, and each host has its own rules; one that no event names is not served.
 */
export function compileRoutes(
  manifest: ManifestClaims,
  originHost: EdgeConfig["originHost"],
): RouteTable {
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
    hosts: [...byHost.keys()],
    event: (name) => byName.get(name),
    match: (request) => {
      const events = byHost.get(request.host);
      if (events === undefined && originHost === "visitor") return { kind: "unknown-host" };
      const found = events === undefined ? OPEN : matchEvents(events, request);
      if (found !== OPEN || originHost === "visitor") return found;
      const elsewhere = matchEvents(all, request);
      return elsewhere.kind === "open" ? elsewhere : { kind: "unknown-host" };
    },
  };
}

function matchEvents(
  events: readonly CompiledEvent[],
  { path, method, now }: RoutedRequest,
): Route {
  if (path.isUnread) return { kind: "ambiguous" };
  const clear = path.otherReadings.length === 0 && !path.malformed;
  if (!clear) {
    if (!isProtected(events, path)) return OPEN;
    // Every reading in the same event, and well formed: there is nothing to guess.
    const [first, ...rest] = [path.normal, ...path.otherReadings].map((reading) =>
      bestMatch(events, reading, now),
    );
    const agreed = first !== undefined && rest.every((event) => event === first);
    if (!agreed || path.malformed) return { kind: "ambiguous" };
    return shut(first, NO_RULES);
  }
  const found = bestMatch(events, path.normal, now);
  if (found === undefined) return OPEN;
  if (path.isDoubled) return shut(found, NO_RULES);
  const exemption = exemptionOf(found, path.normal, method);
  if (exemption !== undefined) return { kind: "open", exemption };
  const { conditional } = found;
  if (conditional === undefined) return shut(found, NO_RULES);
  return shut(found, rulesFor(conditional, { path: path.normal, method }));
}

function shut({ event, conditional }: CompiledEvent, rules: readonly ConditionalRule[]): Route {
  return { kind: "protected", event, conditional: conditional === undefined ? undefined : rules };
}

function exemptionOf(
  { event: { event }, bypass }: CompiledEvent,
  path: string,
  method: string,
): Exemption | undefined {
  for (const { paths, methods, rule } of bypass) {
    const isForMethod = methods !== undefined;
    if (isForMethod && !methods.has(method)) continue;
    if (paths.some((pattern) => matches(pattern, path))) return { event, rule, isForMethod };
  }
  return undefined;
}

function isProtected(events: readonly CompiledEvent[], path: ReadPath): boolean {
  return [path.normal, ...path.otherReadings].some((reading) => {
    const folded = reading.toLowerCase();
    return events.some(({ paths }) => paths.some((pattern) => protects(pattern, folded)));
  });
}

/**
 * An event that goes on wins over one that has ended, whose page only says so; then the longest
 * pattern that matches: `/events/spring*` wins over `/events*`; then the one that matches to the letter.
 */
function bestMatch(
  events: readonly CompiledEvent[],
  path: string,
  now: EpochMs,
): CompiledEvent | undefined {
  let best: CompiledEvent | undefined;
  let bestWeight = -1;
  const folded = path.toLowerCase();
  for (const compiled of events) {
    const goesOn = now < compiled.event.endsAt ? LIVE_WEIGHT : 0;
    for (const pattern of compiled.paths) {
      if (!protects(pattern, folded)) continue;
      const letter = matches(pattern, path) ? 1 : 0;
      const weight = goesOn + pattern.text.length * 4 + (pattern.prefix ? 0 : 2) + letter;
      if (weight > bestWeight) {
        best = compiled;
        bestWeight = weight;
      }
    }
  }
  return best;
}

function protects({ folded, decoded, prefix }: WidePattern, path: string): boolean {
  if (prefix) {
    return path.startsWith(folded) || (decoded !== undefined && path.startsWith(decoded));
  }
  const bare = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
  return [path, bare].some((one) => one === folded || one === decoded);
}

function compileEvent(event: ManifestEvent): CompiledEvent {
  return {
    event,
    paths: event.paths.map(compileWide),
    bypass: event.bypass.map(({ paths, methods, rule }, index) => ({
      paths: paths.map(compilePattern),
      methods: methods === undefined ? undefined : new Set(methods),
      rule: rule ?? index,
    })),
    conditional: compileConditional(event),
  };
}

function compileWide(pattern: string): WidePattern {
  const compiled = compilePattern(pattern);
  const folded = compiled.text.toLowerCase();
  const decoded = decodeOnce(compiled.text).toLowerCase();
  return { ...compiled, folded, decoded: decoded === folded ? undefined : decoded };
}

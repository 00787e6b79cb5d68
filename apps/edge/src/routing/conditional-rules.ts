/** Bypass rules that ask for more than a path and a method (ADR 18). Compiled once per manifest. */
import { type IpNetwork, parseNetwork } from "@vestibule/contracts/network";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import type { Exemption } from "../exempted.ts";
import { type Pattern, compilePattern, matches } from "./pattern.ts";

/** At least one of both is there. */
export interface ConditionalRule {
  readonly exemption: Exemption;
  readonly paths: readonly Pattern[];
  readonly methods: ReadonlySet<string> | undefined;
  /** The client's address is in one of them. */
  readonly networks: readonly IpNetwork[] | undefined;
  /** One of them shows its token. */
  readonly services: ReadonlySet<string> | undefined;
}

type Said = NonNullable<ManifestEvent["conditionalBypass"]>[number];

const KNOWN: ReadonlySet<string> = new Set(["rule", "paths", "methods", "networks", "services"]);

/** `undefined`: the event has none, and its requests are not looked at for them. */
export function compileConditional({
  event,
  conditionalBypass,
}: ManifestEvent): readonly ConditionalRule[] | undefined {
  const rules = (conditionalBypass ?? []).filter(isUnderstood).map((said) => compile(event, said));
  return rules.length === 0 ? undefined : rules;
}

/** What a mint of later times asks beside, nobody here would look at: such a rule opens nothing. */
function isUnderstood(said: Said): boolean {
  const isConditional = said.networks !== undefined || said.services !== undefined;
  return isConditional && Object.keys(said).every((member) => KNOWN.has(member));
}

function compile(
  event: string,
  { rule, paths, methods, networks, services }: Said,
): ConditionalRule {
  return {
    exemption: { event, rule, isForMethod: methods !== undefined },
    paths: paths.map(compilePattern),
    methods: methods === undefined ? undefined : new Set(methods),
    // One that cannot be read holds nobody.
    networks: networks?.flatMap((text) => parseNetwork(text) ?? []),
    services: services === undefined ? undefined : new Set(services),
  };
}

/** Those of this path and method, in their order. Whether they hold is not asked yet. */
export function rulesFor(
  rules: readonly ConditionalRule[],
  { path, method }: { readonly path: string; readonly method: string },
): readonly ConditionalRule[] {
  return rules.filter(
    ({ paths, methods }) =>
      (methods === undefined || methods.has(method)) &&
      paths.some((pattern) => matches(pattern, path)),
  );
}

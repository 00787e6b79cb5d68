/** Passing without a place under a condition (ADR 18): only for events that have such rules. */
import { isTokenShaped } from "@vestibule/contracts/header-text";
import { SERVICE_HEADER } from "@vestibule/contracts/names";
import { type IpNetwork, networkHolds, parseAddress } from "@vestibule/contracts/network";
import { cookieLeft } from "./admission/shown.ts";
import { type Answering, answering } from "./answering.ts";
import { forward } from "./proxy/forward.ts";
import type { ConditionalRule } from "./routing/conditional-rules.ts";
import { readServiceQuery } from "./routing/service-parameter.ts";
import type { Visit } from "./visit.ts";

const HEADER = SERVICE_HEADER.toLowerCase();

/** `2a06:98c0:3600::103`, by which the network lets everybody's Workers ask, whoever wrote them and whoever asks them: it is nobody's. */
const ANYBODYS_WORKER: IpNetwork = {
  words: [0x2a06, 0x98c0, 0x3600, 0, 0, 0, 0, 0x103],
  bits: 128,
};

interface Asked {
  readonly event: string;
  /** Of this path and method. */
  readonly rules: readonly ConditionalRule[];
}

/**
 * Forwards what a rule lets through, and counts it; everything else goes the way of every other request, without a
 * service's token in its address.
 *
 * @param guard for whoever holds no condition
 */
export function pass(
  asked: Visit,
  { event, rules }: Asked,
  guard: (visit: Visit) => Response | Answering,
): Response | Answering {
  const query = readServiceQuery(asked.address.search);
  const visit = query === undefined ? asked : withSearch(asked, query.left);
  const held = rules.filter((rule) => isNear(visit, rule));
  const near = held.find(({ services }) => services === undefined);
  if (near !== undefined) return letThrough(visit, near);
  if (held.length === 0) return guard(visit);
  const token = tokenOf(visit, query?.shown);
  if (token === undefined) return guard(visit);
  const decide = (name: string | undefined): Response | Answering => {
    const rule = held.find(({ services }) => name !== undefined && services?.has(name) === true);
    return rule === undefined ? guard(visit) : letThrough(visit, rule);
  };
  const name = visit.edge.services.nameOf(token, event, visit.now);
  return name instanceof Promise ? answering(visit, name.then(decide)) : decide(name);
}

/** Rules change, and who calls goes on: where none asks for a token any more, it is nobody else's to see all the same. */
export function withoutService(asked: Visit): Visit {
  const query = readServiceQuery(asked.address.search);
  return query === undefined ? asked : withSearch(asked, query.left);
}

function withSearch(visit: Visit, search: string): Visit {
  return { ...visit, address: { ...visit.address, search } };
}

function letThrough(visit: Visit, { exemption }: ConditionalRule): Response | Answering {
  visit.edge.exempted.count(exemption);
  const cookie = cookieLeft(visit.head);
  return forward(visit, { cookie, isForMethod: exemption.isForMethod });
}

/** By the one address that the network says, where it says it; nobody's word counts. */
function isNear({ edge, head }: Visit, { networks }: ConditionalRule): boolean {
  if (networks === undefined) return true;
  if (!edge.config.trustsClientAddress || head.client === null) return false;
  const address = parseAddress(head.client);
  if (address === undefined || networkHolds(ANYBODYS_WORKER, address)) return false;
  return networks.some((network) => networkHolds(network, address));
}

/** Shown once, or the same again: of two that differ nobody can say which is meant. */
function tokenOf({ head }: Visit, inQuery: readonly string[] | undefined): string | undefined {
  const header = head.ours.includes(HEADER) ? head.headers.get(HEADER) : null;
  const [token, ...others] = new Set([...(header === null ? [] : [header]), ...(inQuery ?? [])]);
  return others.length === 0 && isTokenShaped(token) ? token : undefined;
}

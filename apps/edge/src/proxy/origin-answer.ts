/** What the origin answered, as the fan gets it. */
import { headersForOneHop } from "../head.ts";
import type { Visit } from "../visit.ts";
import { publicLocation } from "./origin-address.ts";

/** The only statuses that lead elsewhere: created, and the redirects. */
const CREATED = 201;
const [REDIRECTS_FROM, REDIRECTS_UNTIL] = [300, 400];
const ERRORS_FROM = 500;

/** As it is, but for an address that only we can reach. `undefined` when it is none: a switch that nobody asked for. */
export function originAnswer(visit: Visit, response: Response): Response | undefined {
  const { status } = response;
  if (status === 101) return response.webSocket === null ? undefined : response;
  const connection = response.headers.get("connection");
  const named = connection === null ? [] : headersForOneHop(connection);
  const leads = status === CREATED || (status >= REDIRECTS_FROM && status < REDIRECTS_UNTIL);
  const location = leads ? response.headers.get("location") : null;
  const { edge, address } = visit;
  if (status >= ERRORS_FROM) edge.seen.tell("originErrors", { kind: "origin-error", status });
  const seen = location === null ? null : publicLocation(edge.config, address, location);
  if (named.length === 0 && seen === location) return response;
  const changed = new Response(response.body, response);
  for (const name of named) changed.headers.delete(name);
  if (seen !== null) changed.headers.set("location", seen);
  return changed;
}

/** A service's token in the query: for callers that can be told an address and nothing else. */
import { SERVICE_PARAMETER } from "@vestibule/contracts/names";

const BEGINNING = `${SERVICE_PARAMETER}=`;

export interface ServiceQuery {
  /** What the origin sees: the query without the parameter, and otherwise byte for byte. */
  readonly left: string;
  /** Each value that was shown, as it stands there. */
  readonly shown: readonly string[];
}

/** @param search with its `?`, or empty. `undefined`: nothing was shown, and nothing is to be taken out. */
export function readServiceQuery(search: string): ServiceQuery | undefined {
  if (!search.includes(BEGINNING)) return undefined;
  const parts = search.slice(1).split("&");
  const left = parts.filter((part) => !part.startsWith(BEGINNING));
  if (left.length === parts.length) return undefined;
  return {
    left: left.length === 0 ? "" : `?${left.join("&")}`,
    shown: parts
      .filter((part) => part.startsWith(BEGINNING))
      .map((part) => part.slice(BEGINNING.length)),
  };
}

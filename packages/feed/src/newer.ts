/** What counts as newer. A location never goes back, whoever answers it and in whatever order. */
import type { EpochMs } from "@vestibule/kernel/units";

interface Sequenced {
  readonly seq: number;
  readonly iat: number;
}

/** By `seq`, which only grows; the same statement signed again (a later `iat`) counts as newer. */
export function isNewerStatement(next: Sequenced, known: Sequenced): boolean {
  return next.seq > known.seq || (next.seq === known.seq && next.iat > known.iat);
}

/**
 * A key set has no signature and no `iat` of its own. When the mint adds a `seq` member (RFC 7517
 * section 5 allows additional members) it decides; else the moment of the fetch does.
 */
export function isNewerKeys(
  next: { readonly seq: number | undefined; readonly fetchedAt: EpochMs },
  known: { readonly seq: number | undefined; readonly fetchedAt: EpochMs },
): boolean {
  // The same set again: fetched anew, whatever a clock that was set back in the meantime says.
  if (next.seq !== undefined && known.seq !== undefined) return next.seq >= known.seq;
  return next.fetchedAt >= known.fetchedAt;
}

/** The `seq` member of a JWKS, when it has a usable one. */
export function jwksSeq(json: unknown): number | undefined {
  if (typeof json !== "object" || json === null) return undefined;
  const seq: unknown = Reflect.get(json, "seq");
  return typeof seq === "number" && Number.isSafeInteger(seq) && seq >= 0 ? seq : undefined;
}

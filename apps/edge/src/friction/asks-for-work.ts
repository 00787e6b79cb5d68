import type { ManifestEvent } from "@vestibule/contracts/statements";

/** Work before a new place: what a page carries, and how it is allowed, depends on it. */
export function asksForWork({ friction }: ManifestEvent): boolean {
  return (friction?.proofOfWorkBits ?? 0) > 0;
}

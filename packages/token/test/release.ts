/** What a version of the pack brought, as one digest: a released vector never changes again. */
import { createHash } from "node:crypto";

import { type VectorSet, questionsOf } from "../conformance/pack.ts";

export interface Release {
  readonly version: string;
  /** How many vectors it added. */
  readonly vectors: number;
  /** SHA-256 over what it added. */
  readonly digest: string;
}

/** Group and comment may be worded better later; question, answer, number and name may not. */
export function digestOf(sets: readonly VectorSet[], version: string): string {
  const hash = createHash("sha256");
  for (const set of sets) {
    const questions = questionsOf(set);
    for (const [index, { since, name, expected }] of set.vectors.entries()) {
      if (since === version) hash.update(`${JSON.stringify([name, questions[index], expected])}\n`);
    }
  }
  return hash.digest("hex");
}

export function releaseOf(sets: readonly VectorSet[], version: string): Release {
  const vectors = sets.flatMap((set) => set.vectors.filter(({ since }) => since === version));
  return { version, vectors: vectors.length, digest: digestOf(sets, version) };
}

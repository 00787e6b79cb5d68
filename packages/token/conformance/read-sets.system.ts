import { readFileSync } from "node:fs";

import { SETS, type SetName, type VectorSet } from "./pack.ts";

/** The pack's files, as they lie beside this folder. @throws Error for a name that is no set. */
export function readSets(names: readonly string[] = SETS): VectorSet[] {
  return names.map((name) => {
    if (!SETS.includes(name as SetName))
      throw new Error(`there is no set ${name}: ${SETS.join(", ")}`);
    const file = new URL(`../vectors/${name}.json`, import.meta.url);
    return JSON.parse(readFileSync(file, "utf8")) as VectorSet;
  });
}

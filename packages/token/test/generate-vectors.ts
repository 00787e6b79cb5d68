/** Writes `vectors/*.json` anew. Run by hand, never by a test: the files are frozen. */
import { writeFileSync } from "node:fs";

import { JWKS } from "./forge.ts";
import { OPTIONS } from "./vector-builder.ts";
import {
  admissionVectors,
  creditVectors,
  dripVectors,
  manifestVectors,
  ticketVectors,
} from "./vector-cases.ts";

const kinds = {
  admission: admissionVectors,
  ticket: ticketVectors,
  drip: dripVectors,
  manifest: manifestVectors,
  credit: creditVectors,
};

for (const [kind, vectors] of Object.entries(kinds)) {
  const content = {
    typ: `vst-${kind}+jwt`,
    options: OPTIONS,
    jwks: JWKS,
    vectors: await vectors(),
  };
  const file = new URL(`../vectors/${kind}.json`, import.meta.url);
  writeFileSync(file, `${JSON.stringify(content, undefined, 1)}\n`);
}

/**
 * Writes `vectors/*.json` anew. Run by hand, never by a test: what a released version holds is frozen, and
 * this stops when it would change.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";

import {
  type Kind,
  SETS,
  type SetName,
  type VectorDraft,
  type VectorSet,
} from "../conformance/pack.ts";
import { JWKS } from "./forge.ts";
import { type Release, digestOf, releaseOf } from "./release.ts";
import { additions } from "./vector-additions.ts";
import { OPTIONS, builder, typOf } from "./vector-builder.ts";
import {
  admissionVectors,
  creditVectors,
  dripVectors,
  manifestVectors,
  ticketVectors,
} from "./vector-cases.ts";
import { groupOf } from "./vector-groups.ts";
import { keySetVectors } from "./vector-key-sets.ts";
import { serviceShown, serviceVectors } from "./vector-services.ts";
import { moreKeySets, uses } from "./vector-uses.ts";

/** All versions; the last one is the one that is written. */
const VERSIONS = ["1.0", "1.1", "1.2", "1.3"] as const;
const VERSION = "1.3";
const FIRST = {
  admission: admissionVectors,
  ticket: ticketVectors,
  drip: dripVectors,
  manifest: manifestVectors,
  credit: creditVectors,
} as const;

/** What each version brought, in its order: a later one is appended, so that numbers stay. */
async function contentOf(set: SetName): Promise<(readonly [string, readonly VectorDraft[]])[]> {
  const { kind, alg } = natureOf(set);
  if (set.startsWith("key-set")) {
    return [
      ["1.1", await keySetVectors(alg)],
      ["1.2", await moreKeySets(alg)],
    ];
  }
  if (kind === "service") return [["1.3", await serviceVectors(alg)]];
  const first = await FIRST[kind](alg);
  return [
    [alg === "EdDSA" ? "1.1" : "1.0", first],
    ["1.1", await additions(builder(kind, alg))],
    ["1.2", await uses(builder(kind, alg))],
    // The table of stock libraries is made of the sets under the older name: nothing new is asked there.
    ["1.3", alg === "EdDSA" ? [] : await serviceShown(builder(kind, alg))],
  ];
}

function natureOf(set: SetName): Pick<VectorSet, "kind" | "alg"> {
  const alg = set.endsWith("-eddsa") ? "EdDSA" : "Ed25519";
  const name = set.replace("-eddsa", "") as Kind | "key-set";
  return { kind: name === "key-set" ? "admission" : name, alg };
}

const file = (name: string) => new URL(`../vectors/${name}.json`, import.meta.url);
const write = (name: string, content: unknown) => {
  writeFileSync(file(name), `${JSON.stringify(content, undefined, 1)}\n`);
};

const sets: VectorSet[] = [];
for (const set of SETS) {
  const { kind, alg } = natureOf(set);
  const drafts = (await contentOf(set)).flatMap(([since, list]) =>
    list.map((draft) => ({ since, draft })),
  );
  sets.push({
    version: VERSION,
    set,
    kind,
    typ: typOf(kind),
    alg,
    options: OPTIONS,
    jwks: { keys: JWKS.keys.map((jwk) => ({ ...jwk, alg })) },
    vectors: drafts.map(({ since, draft }, index) => {
      const { name, token, jwks, jwksBefore, options, expected } = draft;
      return {
        id: `${set}-${String(index + 1).padStart(3, "0")}`,
        since,
        ...groupOf(name),
        name,
        token,
        ...(jwks === undefined ? {} : { jwks }),
        ...(jwksBefore === undefined ? {} : { jwksBefore }),
        options,
        expected,
      };
    }),
  });
}

const released = existsSync(file("releases"))
  ? (JSON.parse(readFileSync(file("releases"), "utf8")) as Release[])
  : [];
for (const { version, digest } of released) {
  if (digestOf(sets, version) !== digest)
    throw new Error(`version ${version} is released: its vectors may not change`);
}
for (const version of VERSIONS.slice(released.length)) released.push(releaseOf(sets, version));
for (const set of sets) write(set.set, { $schema: "./schema.json", ...set });
write("releases", released);

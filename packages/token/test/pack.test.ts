/** The pack as an outsider gets it: documented, in one form, and never changed. */
import { readFileSync, readdirSync } from "node:fs";

import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";

import { readAnswer } from "../conformance/judge.ts";
import { SETS, type VectorSet, questionsOf } from "../conformance/pack.ts";
import { readSets } from "../conformance/read-sets.system.ts";
import { type Release, digestOf, releaseOf } from "./release.ts";
import { groupOf } from "./vector-groups.ts";

const FOLDER = new URL("../vectors/", import.meta.url);
const read = (name: string) => readFileSync(new URL(name, FOLDER), "utf8");
const schema = JSON.parse(read("schema.json")) as { $defs: { reason: { enum: string[] } } };
const releases = JSON.parse(read("releases.json")) as readonly Release[];
const readme = read("README.md");
const sets = readSets();
const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, strictRequired: false });
ajv.addSchema(schema, "pack");

function complaints(value: unknown, ref = "pack"): unknown {
  const validate = ajv.getSchema(ref);
  if (validate === undefined) throw new Error(`no schema ${ref}`);
  return validate(value) === true ? [] : validate.errors;
}

test("every file of the folder is a set, the schema, the releases or the README", () => {
  const others = ["README.md", "releases.json", "schema.json"];
  const expected = [...SETS.map((set) => `${set}.json`), ...others].toSorted();
  expect(readdirSync(FOLDER).toSorted()).toEqual(expected);
});

describe.each(sets)("$set", (set) => {
  const { vectors } = set;

  test("has the form of the schema, and so have its questions", () => {
    expect(complaints(set)).toEqual([]);
    const questions = questionsOf(set);
    const bad = questions.filter((each) => complaints(each, "pack#/$defs/question") !== undefined);
    expect(bad.flatMap((each) => complaints(each, "pack#/$defs/question"))).toEqual([]);
  });

  test("is numbered from 1 on, older versions first, and names nothing twice", () => {
    expect(vectors.map(({ id }) => id)).toEqual(
      vectors.map((_, index) => `${set.set}-${String(index + 1).padStart(3, "0")}`),
    );
    const since = vectors.map((vector) => Number(vector.since));
    expect(since).toEqual(since.toSorted((one, other) => one - other));
    expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length);
    expect(set.version).toBe(releases.at(-1)?.version);
  });

  test("says of every vector to which group it belongs, and why", () => {
    const told = vectors.map(({ group, comment }) => ({ group, comment }));
    expect(told).toEqual(vectors.map(({ name }) => groupOf(name)));
  });

  test("has good and bad ones in numbers", () => {
    const good = vectors.filter(({ expected }) => expected.ok).length;
    expect(good).toBeGreaterThan(20);
    expect(vectors.length - good).toBeGreaterThan(100);
  });
});

describe("the schema", () => {
  const [set] = sets as [VectorSet];
  const [vector] = set.vectors;
  const changed = (change: object) => ({ ...set, vectors: [{ ...vector, ...change }] });
  test.each([
    ["a vector without a comment", changed({ comment: undefined })],
    ["a comment that is no sentence", changed({ comment: "because" })],
    ["a refusal without a reason", changed({ expected: { ok: false } })],
    ["an acceptance with a reason", changed({ expected: { ok: true, reason: "over" } })],
    ["a reason of an unknown name", changed({ expected: { ok: false, reason: "no" } })],
    ["an option of an unknown name", changed({ options: { now: 5 } })],
    ["a token that is no text", changed({ token: null })],
    ["an empty set", { ...set, vectors: [] }],
    ["a file without keys", { ...set, jwks: { keys: [] } }],
  ])("refuses %s", (_title, file) => {
    expect(complaints(JSON.parse(JSON.stringify(file)))).not.toEqual([]);
  });

  test("and the runner agree on what an answer is", () => {
    const answers = [
      { id: "admission-001", ok: true },
      { id: "admission-001", ok: false, reason: "over" },
      { id: "admission-001", ok: false, reason: null },
      { id: "admission-001", ok: "yes" },
      { id: "admission-001" },
      { id: 1, ok: true },
      { id: "admission-001", ok: false, reason: 5 },
      null,
    ];
    for (const answer of answers) {
      const valid = ajv.validate("pack#/$defs/answer", answer);
      const read = readAnswer(JSON.stringify(answer)) !== undefined;
      expect({ answer, valid: read }).toEqual({ answer, valid });
    }
  });
});

describe("what was released", () => {
  test.each(releases)("in version $version is what it was", (release) => {
    expect(releaseOf(sets, release.version)).toEqual(release);
  });

  test("is all there is", () => {
    const vectors = sets.reduce((sum, set) => sum + set.vectors.length, 0);
    expect(releases.reduce((sum, release) => sum + release.vectors, 0)).toBe(vectors);
  });

  test("is seen to change with any question, answer or name", () => {
    const [first, ...rest] = sets as [VectorSet, ...VectorSet[]];
    const [vector, ...others] = first.vectors;
    const digest = digestOf(sets, "1.0");
    const changes: object[] = [
      { name: "better" },
      { token: `${vector?.token}A` },
      { options: { skewSeconds: 6 } },
      { expected: { ok: false, reason: "over" } },
      { jwks: { keys: [] } },
    ];
    for (const change of changes) {
      const changed = { ...first, vectors: [{ ...vector, ...change }, ...others] } as VectorSet;
      expect(digestOf([changed, ...rest], "1.0")).not.toBe(digest);
    }
    const reworded = { ...first, vectors: [{ ...vector, comment: "Why." }, ...others] };
    expect(digestOf([reworded as VectorSet, ...rest], "1.0")).toBe(digest);
  });
});

describe("the README", () => {
  test("names the version, every set, every reason and every group", () => {
    const groups = new Set(sets.flatMap(({ vectors }) => vectors.map(({ group }) => group)));
    const words = [...SETS.map((set) => `${set}.json`), ...schema.$defs.reason.enum, ...groups];
    expect(words.filter((word) => !readme.includes(`\`${word}\``))).toEqual([]);
    expect(readme).toContain(`Version ${releases.at(-1)?.version}.`);
  });

  test("counts right, and so does docs/conformance.md", () => {
    const all = sets.flatMap(({ vectors }) => vectors);
    const guide = readFileSync(new URL("../../../docs/conformance.md", import.meta.url), "utf8");
    const total = all.length.toLocaleString("en-US");
    const shop = sets.filter(({ set }) => set === "admission" || set === "key-set");
    const asked = shop.reduce((sum, { vectors }) => sum + vectors.length, 0);
    expect(readme).toContain(` ${total} tokens`);
    expect(guide).toContain(` ${total} tokens`);
    expect(guide).toContain(`${asked} vectors: ${asked - 1} as expected`);
    for (const group of new Set(all.map((vector) => vector.group))) {
      const count = all.filter((vector) => vector.group === group).length;
      expect(readme).toMatch(new RegExp(`\\| \`${group}\` +\\|.*\\| ${count} +\\|`, "u"));
    }
    for (const { set, vectors } of sets) {
      const good = vectors.filter(({ expected }) => expected.ok).length;
      expect(readme).toMatch(
        new RegExp(`\\| \`${set}\\.json\` +\\|.*\\| ${vectors.length} +\\| ${good} +\\|`, "u"),
      );
    }
  });
});

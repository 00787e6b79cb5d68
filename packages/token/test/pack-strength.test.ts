/** The pack tries every rule: a verifier that lacks one, or has one a second off, does not agree. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

import { beforeAll, beforeEach, describe, expect, test } from "vitest";

import { NO_PYTHON_LIBRARIES, findPython } from "../conformance/libraries.system.ts";
import { questionsOf } from "../conformance/pack.ts";
import { readSets } from "../conformance/read-sets.system.ts";

const EXAMPLE = new URL("../conformance/adapters/python/main.py", import.meta.url);
const source = readFileSync(EXAMPLE, "utf8");
const python = findPython();
const sets = readSets(["admission", "key-set"]);
const questions = sets.flatMap(questionsOf);
const expected = sets.flatMap((set) => set.vectors.map((vector) => vector.expected.ok));

/** Whether each program is caught: by the first vector that it answers otherwise, or breaks at. One process for all. */
const JURY = `
import json, sys

work = json.load(sys.stdin)
asked = list(zip(work["questions"], work["expected"]))

def agrees(program, question, ok):
    try:
        program["check"](question)
        return ok
    except program["Refused"]:
        return not ok
    except Exception:
        return False

def is_caught(source):
    program = {"__name__": "example"}
    exec(source, program)
    return not all(agrees(program, question, ok) for question, ok in asked)

print(json.dumps([is_caught(source) for source in work["programs"]]))
`;

function caughtOf(programs: readonly string[]): boolean[] {
  const { stdout, stderr } = spawnSync(python!, ["-c", JURY], {
    input: JSON.stringify({ programs, questions, expected }),
    encoding: "utf8",
  });
  if (stderr !== "") throw new Error(stderr);
  return JSON.parse(stdout) as boolean[];
}

/** Each line that refuses something, left out. */
const lines = source.split("\n");
const rules = lines.flatMap((line, index) =>
  /^\s+need\(.*\)/u.test(line) ? [[line.trim(), index] as const] : [],
);

/** What is easily written instead. Each stands once in the example. */
const SLIPS: readonly (readonly [right: string, wrong: string])[] = [
  ["need(iat <= now + skew", "need(iat <= now + skew + 1"],
  ["need(iat <= now + skew", "need(iat < now + skew"],
  ["need(nbf <= now + skew", "need(nbf <= now + skew + 1"],
  ["need(nbf <= now + skew", "need(nbf < now + skew"],
  ["need(now < exp + skew", "need(now <= exp + skew"],
  ["need(now < exp + skew", "need(now < exp"],
  ["now_ms // 1000", "round(now_ms / 1000)"],
  ["exp - nbf <= lifetime", "exp - nbf <= lifetime + 1"],
  ["exp - nbf <= lifetime", "exp - nbf < lifetime"],
  ["exp > nbf", "exp >= nbf"],
  ["until * 1000", "(until + skew) * 1000"],
  ["now_ms < until", "now_ms <= until"],
  ["TOKEN_CHARS_MAX = 2048", "TOKEN_CHARS_MAX = 2049"],
  ["TOKEN_CHARS_MAX = 2048", "TOKEN_CHARS_MAX = 2047"],
  ["KEYS_MAX = 16", "KEYS_MAX = 17"],
  ["KEYS_MAX = 16", "KEYS_MAX = 15"],
  ["2**53 - 1", "2**53"],
  ["type(value) is int", "isinstance(value, int)"],
  ["visitor.encode", "(visitor or '').upper().encode"],
  ['claims.get("aud") == event', 'event in (claims.get("aud") or [])'],
  ['header.get("typ") == TYP', 'str(header.get("typ")).lower() == TYP'],
  ['header.get("alg") in NAMES', 'str(header.get("alg")).title() in ("Ed25519", "Eddsa")'],
  ['.decode("utf-8")', '.decode("utf-8", "replace")'],
  ["parse_constant=no_constant", "parse_constant=float"],
  [", RecursionError", ""],
  ["y < P and ", ""],
  [" and y not in SMALL_ORDER", ""],
  [" & (2**255 - 1)", ""],
  [" and seen[kid] == read", ""],
  ['"x5t#S256", ', ""],
  [', "b64")', ")"],
  ['entry["vst_use"] not in USES', "False"],
  ['"vst_use" in entry and', 'entry.get("vst_use") is not None and'],
  ['use in (None, "admission")', "use in (None, *USES)"],
  ['use in (None, "admission")', 'use == "admission"'],
  ['question.get("jwksBefore")', 'question["jwks"]'],
];

const without = rules.map(([, index]) =>
  lines.with(index, (lines[index] ?? "").replace(/\S.*$/u, "pass")).join("\n"),
);
const slipped = SLIPS.map(([right, wrong]) => source.replace(right, wrong));

describe("the example in Python", () => {
  let caught: ReadonlyMap<string, boolean>;

  beforeAll(() => {
    if (python === undefined) return;
    const programs = [source, ...without, ...slipped];
    const verdicts = caughtOf(programs);
    caught = new Map(programs.map((program, index) => [program, verdicts[index]!]));
  }, 60_000);
  beforeEach((context) => {
    if (python === undefined) context.skip(NO_PYTHON_LIBRARIES);
  });

  test("is not caught as it is, and has rules", () => {
    expect(caught.get(source)).toBe(false);
    expect(rules.length).toBeGreaterThan(30);
  });

  test.each(rules.map(([rule], index) => [rule, without[index]!]))(
    "is caught without: %s",
    (_rule, program) => {
      expect(caught.get(program)).toBe(true);
    },
  );

  test.each(SLIPS.map(([right, wrong], index) => [right, wrong, slipped[index]!]))(
    "is caught when it says, instead of %s: %s",
    (right, _wrong, program) => {
      expect(source.split(right)).toHaveLength(2);
      expect(caught.get(program)).toBe(true);
    },
  );
});

/** The runner tells a verifier that agrees from one that does not, and from one that cannot be asked. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { beforeEach, describe, expect, test } from "vitest";

import { askVerifier } from "../conformance/ask-verifier.system.ts";
import { agrees, judge } from "../conformance/judge.ts";
import {
  type Library,
  NO_PYTHON_LIBRARIES,
  findPython,
  jose,
  pythonExample,
  pythonLibraries,
  reference,
} from "../conformance/libraries.system.ts";
import { questionsOf } from "../conformance/pack.ts";
import { readSets } from "../conformance/read-sets.system.ts";
import type { Column } from "../conformance/stock-table.ts";
import { TABLES_BEGIN, TABLES_END, columnOf, stockMarkdown } from "../conformance/stock.system.ts";

const RUNNER = fileURLToPath(new URL("../conformance/main.ts", import.meta.url));
const TIMEOUT_MS = 30_000;
const all = readSets();
const vectors = all.flatMap((set) => set.vectors);
const tickets = readSets(["ticket"])[0]!.vectors;
const questions = all.flatMap(questionsOf);
const python = findPython();

/** A verifier of a few words: `answer` sees the question `q` and its position `at`. */
function verifier(answer: string): readonly [string, ...string[]] {
  const program = `
    let at = 0;
    const say = (text) => process.stdout.write(text + "\\n");
    for await (const line of require("node:readline").createInterface({ input: process.stdin })) {
      const q = JSON.parse(line); ${answer}; at += 1;
    }`;
  return [process.execPath, "-e", `(async () => {${program}})()`];
}

function run(...words: readonly string[]) {
  return spawnSync(process.execPath, [RUNNER, ...words], { encoding: "utf8" });
}

async function verdictOf(command: readonly [string, ...string[]]) {
  const outcome = await askVerifier(command, questions, { timeoutMs: TIMEOUT_MS });
  expect(outcome).toMatchObject({ broken: undefined });
  return judge(vectors, outcome.answers);
}

describe("a verifier that", () => {
  test("is our own agrees in every answer and every reason", async () => {
    const verdict = await verdictOf(reference());
    expect(verdict.otherReasons).toEqual([]);
    expect(agrees(verdict)).toBe(true);
    const shown = run("--set", "admission", "--", ...reference());
    expect(shown.status).toBe(0);
    const count = readSets(["admission"])[0]!.vectors.length;
    expect(shown.stdout).toContain(`${count} vectors: ${count} as expected, 0 wrongly accepted`);
  });

  test("answers all at once at its end, in another order and in words of its own is understood", async () => {
    const late = `(globalThis.kept ??= []).push(q.id); if (at === ${questions.length - 1})
      for (const id of kept.reverse()) say(JSON.stringify({ id, ok: false, reason: "in my words", more: 1 }))`;
    const verdict = await verdictOf(verifier(late));
    const bad = vectors.filter(({ expected }) => !expected.ok);
    expect(verdict.otherReasons).toHaveLength(bad.length);
    expect(verdict.unanswered).toEqual([]);
  });

  test("accepts everything is told of each bad token", () => {
    const yes = verifier("say(JSON.stringify({ id: q.id, ok: true }))");
    const { status, stdout } = run("--set", "ticket", "--", ...yes);
    expect(status).toBe(1);
    const bad = tickets.filter(({ expected }) => !expected.ok).length;
    expect(stdout).toContain(`WRONGLY ACCEPTED: ${bad}`);
    expect(stdout).toContain("ticket-005 [algorithm]");
    expect(stdout).toContain(`… and ${bad - 40} more (--all)`);
    expect(run("--all", "--set", "ticket", "--", ...yes).stdout).not.toContain("more (--all)");
  });

  test("refuses everything is told of each good token", () => {
    const no = verifier("say(JSON.stringify({ id: q.id, ok: false }))");
    const { status, stdout } = run("--json", "--set", "ticket", "--", ...no);
    expect(status).toBe(1);
    const found = JSON.parse(stdout) as { wronglyRefused: { vector: { id: string } }[] };
    expect(found.wronglyRefused).toHaveLength(tickets.filter(({ expected }) => expected.ok).length);
    expect(found.wronglyRefused[0]?.vector.id).toBe("ticket-001");
  });

  test("accepts one bad token among all is told", async () => {
    const answers = new Map(
      vectors.map(({ id, expected }) => [id, { id, ok: expected.ok || id === "drip-055" }]),
    );
    const verdict = judge(vectors, answers);
    expect(verdict.wronglyAccepted.map(({ id }) => id)).toEqual(["drip-055"]);
    expect(agrees(verdict)).toBe(false);
  });
});

describe("a run is worth nothing when the verifier", () => {
  const good = "say(JSON.stringify({ id: q.id, ok: true }))";
  test.each([
    ["crashes", `if (at === 3) throw new Error("oh dear"); ${good}`, /exit code 1/u],
    ["ends with an exit code", `${good}; process.exitCode = 3`, /exit code 3/u],
    ["is killed", `process.kill(process.pid, "SIGKILL")`, /SIGKILL/u],
    ["writes something else", `say("DEBUG verifying")`, /this is no answer: DEBUG/u],
    ["says neither yes nor no", `say(JSON.stringify({ id: q.id, ok: 1 }))`, /this is no answer/u],
    ["answers twice", `${good}; ${good}`, /answers twice: admission-001/u],
    ["answers what was not asked", `say('{"id":"x-001","ok":true}')`, /not asked: x-001/u],
    ["never ends a line", `process.stdout.write("x".repeat(5000))`, /longer than 4096/u],
  ])("%s", async (_title, answer, why) => {
    const outcome = await askVerifier(verifier(answer), questions, { timeoutMs: TIMEOUT_MS });
    expect(outcome.broken).toMatch(why);
  });

  test("hangs: it is killed at the deadline, however deaf it is", async () => {
    const deaf = verifier(`process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)`);
    const outcome = await askVerifier(deaf, questions, { timeoutMs: 1_000 });
    expect(outcome.broken).toBe("it did not end within 1 s");
  });

  test("is not there, or reads nothing", async () => {
    const none = await askVerifier(["no-such-program"], questions, { timeoutMs: TIMEOUT_MS });
    expect(none.broken).toMatch(/cannot be started/u);
    const blind = await askVerifier(["true"], questions, { timeoutMs: TIMEOUT_MS });
    expect(judge(vectors, blind.answers).unanswered).toHaveLength(vectors.length);
  });

  test("and its last words are shown, with an exit code of their own", () => {
    const { status, stdout } = run("--", ...verifier(`throw new Error("oh dear")`));
    expect(status).toBe(2);
    expect(stdout).toContain("THE RUN IS WORTH NOTHING: it ended with exit code 1");
    expect(stdout).toContain("oh dear");
  });
});

describe("the runner", () => {
  test("shows how it is used, and refuses what it does not know", () => {
    expect(run("--help")).toMatchObject({ status: 0 });
    expect(run()).toMatchObject({ status: 2 });
    expect(run("--set", "other", "--", "true").stderr).toContain("there is no set other");
    expect(run("--timeout-seconds", "0", "--", "true").status).toBe(2);
    expect(run("--no-such-option").status).toBe(2);
  });

  test("prints the questions, without the answers", () => {
    const lines = run("--lines", "--set", "drip").stdout.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(
      questionsOf(readSets(["drip"])[0]!),
    );
    expect(lines.join("")).not.toContain("expected");
  });
});

describe("libraries that are not ours", () => {
  const document = readFileSync(new URL("../../../docs/conformance.md", import.meta.url), "utf8");
  const tables = document.split(TABLES_BEGIN)[1]?.split(TABLES_END)[0]?.trim() ?? "";

  describe("of Python", () => {
    beforeEach((context) => {
      if (python === undefined) context.skip(NO_PYTHON_LIBRARIES);
    });

    test("the example in Python agrees on every admission and key set, under both names", async () => {
      const sets = readSets(["admission", "key-set", "admission-eddsa", "key-set-eddsa"]);
      const outcome = await askVerifier(pythonExample(python!), sets.flatMap(questionsOf), {
        timeoutMs: TIMEOUT_MS,
      });
      expect(outcome).toMatchObject({ broken: undefined });
      const verdict = judge(
        sets.flatMap((set) => set.vectors),
        outcome.answers,
      );
      expect(agrees(verdict)).toBe(true);
      expect(verdict.otherReasons).toEqual([]);
    });

    test("docs/conformance.md shows what they answer", { timeout: 120_000 }, async () => {
      const libraries = [jose(), ...pythonLibraries(python!)];
      const columns: Column[] = [];
      for (const library of libraries) columns.push(await columnOf(library));
      if (libraries.every((library) => isShown(library))) {
        expect(stockMarkdown(columns)).toBe(tables);
        return;
      }
      // Another release may have learnt a check: then the tables are out of date, and nothing is wrong.
      console.warn(
        "WARNING: docs/conformance.md shows other versions of the libraries than the installed ones: " +
          "node packages/token/conformance/table/main.ts",
      );
      for (const { verdict } of columns) {
        const refused = verdict.wronglyRefused.map(({ vector }) => vector.group);
        expect(refused).not.toContain("genuine");
        expect(verdict.wronglyAccepted.map(({ group }) => group)).toContain("visitor");
      }
    });
  });

  function isShown({ name, version }: Library): boolean {
    return tables.includes(`| ${name} ${version} `);
  }

  test("jose, whose version we choose, is shown as it answers", async () => {
    expect(isShown(jose())).toBe(true);
    const { verdict } = await columnOf(jose());
    const mine = (group: string) =>
      verdict.wronglyAccepted.filter((vector) => vector.group === group).length;
    for (const [group, refused] of [
      ["visitor", "**none**"],
      ["action", "**none**"],
    ] as const) {
      expect(mine(group)).toBeGreaterThan(0);
      expect(tables).toMatch(
        new RegExp(`\\| \`${group}\`: [^|]*\\| \\d+ +\\| ${refused.replaceAll("*", "\\*")} `, "u"),
      );
    }
  });
});

/** Asks the stock libraries, and puts what they said into tables. */
import { askVerifier } from "./ask-verifier.system.ts";
import { type Verdict, judge } from "./judge.ts";
import type { Library } from "./libraries.system.ts";
import { type VectorSet, questionsOf } from "./pack.ts";
import { readSets } from "./read-sets.system.ts";
import {
  type Column,
  NEWER_SETS,
  TABLE_SETS,
  type Tables,
  markdownOf,
  tablesOf,
} from "./stock-table.ts";

const TIMEOUT_MS = 60_000;

export async function columnOf(library: Library): Promise<Column> {
  return {
    head: `${library.name} ${library.version}`,
    verdict: await verdictOf(library, readSets(TABLE_SETS)),
    // Whether it knows a name is no matter of chance.
    newer: await verdictOf(
      { ...library, environments: library.environments.slice(0, 1) },
      readSets(NEWER_SETS),
    ),
  };
}

/** Wrong once is wrong: what is refused by chance counts as accepted, and the other way round. */
async function verdictOf(library: Library, sets: readonly VectorSet[]): Promise<Verdict> {
  const questions = sets.flatMap(questionsOf);
  const vectors = sets.flatMap((set) => set.vectors);
  const verdicts: Verdict[] = [];
  for (const environment of library.environments) {
    const { answers, broken, lastWords } = await askVerifier(library.command, questions, {
      timeoutMs: TIMEOUT_MS,
      environment,
    });
    if (broken !== undefined) throw new Error(`${library.name}: ${broken}\n${lastWords}`);
    verdicts.push(judge(vectors, answers));
  }
  const accepted = new Set(verdicts.flatMap(({ wronglyAccepted }) => wronglyAccepted));
  const refused = new Map(
    verdicts.flatMap(({ wronglyRefused }) => wronglyRefused).map((each) => [each.vector, each]),
  );
  return {
    vectors: vectors.length,
    wronglyAccepted: [...accepted],
    wronglyRefused: [...refused.values()],
    unanswered: [...new Set(verdicts.flatMap(({ unanswered }) => unanswered))],
    otherReasons: [],
  };
}

export function stockTables(columns: readonly Column[]): Tables {
  return tablesOf({ older: readSets(TABLE_SETS), newer: readSets(NEWER_SETS) }, columns);
}

/** Between these two lines of the document stand the tables. */
export const TABLES_BEGIN = "<!-- tables: node packages/token/conformance/table/main.ts -->";
export const TABLES_END = "<!-- end of tables -->";

export function stockMarkdown(columns: readonly Column[]): string {
  const { refused, accepted, newer } = stockTables(columns);
  const heads = columns.map(({ head }) => head);
  return [
    "Must be refused, and is:",
    markdownOf(["group", "tokens", ...heads], refused),
    "Must be accepted, and is:",
    markdownOf(["group", "tokens", ...heads], accepted),
    "Who knows the newer name:",
    markdownOf(["what", "tokens", ...heads], newer),
  ].join("\n\n");
}

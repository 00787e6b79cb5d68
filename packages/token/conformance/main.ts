/**
 * `node packages/token/conformance/main.ts [--set NAME …] -- COMMAND …`: proves a verifier in any language.
 * docs/conformance.md says how. Exit code: 0 agrees, 1 disagrees, 2 could not be asked.
 */
import { parseArgs } from "node:util";

import { askVerifier } from "./ask-verifier.system.ts";
import { agrees, judge } from "./judge.ts";
import { SETS, questionsOf } from "./pack.ts";
import { readSets } from "./read-sets.system.ts";
import { reportOf } from "./report.ts";

const USAGE = `node packages/token/conformance/main.ts [options] -- COMMAND [argument …]

  --set NAME            only this file of packages/token/vectors; may be given again
                        (${SETS.join(", ")})
  --all                 show every finding, not the first of each kind only
  --json                the report as one JSON object
  --lines               print the questions, one line of JSON each, and ask nobody
  --timeout-seconds N   for the whole run (60)

COMMAND reads questions on stdin, one line of JSON each, and writes {"id", "ok", "reason"?} for each.
Exit code: 0 agrees, 1 disagrees, 2 could not be asked.`;

const TIMEOUT_SECONDS_DEFAULT = 60;
const TIMEOUT_SECONDS_MAX = 3_600;

async function main(words: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      set: { type: "string", multiple: true },
      all: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      lines: { type: "boolean", default: false },
      "timeout-seconds": { type: "string", default: String(TIMEOUT_SECONDS_DEFAULT) },
      help: { type: "boolean", default: false },
    },
  });
  const [program, ...rest] = positionals;
  const seconds = Number(values["timeout-seconds"]);
  if (!(seconds > 0 && seconds <= TIMEOUT_SECONDS_MAX))
    throw new Error(`--timeout-seconds is more than 0 and at most ${TIMEOUT_SECONDS_MAX}`);
  if (values.help || (program === undefined && !values.lines)) {
    console.log(USAGE);
    return values.help ? 0 : 2;
  }

  const sets = readSets(values.set);
  const questions = sets.flatMap(questionsOf);
  if (program === undefined || values.lines) {
    process.stdout.write(questions.map((each) => `${JSON.stringify(each)}\n`).join(""));
    return 0;
  }
  const outcome = await askVerifier([program, ...rest], questions, { timeoutMs: seconds * 1000 });
  const vectors = sets.flatMap((set) => set.vectors);
  const verdict = judge(vectors, outcome.answers);
  if (values.json) console.log(JSON.stringify({ broken: outcome.broken, ...verdict }));
  else {
    console.log(reportOf(verdict, { all: values.all }));
    if (outcome.broken !== undefined) {
      console.log(`THE RUN IS WORTH NOTHING: ${outcome.broken}`);
      if (outcome.lastWords !== "") console.log(outcome.lastWords);
    }
  }
  if (outcome.broken !== undefined) return 2;
  return agrees(verdict) ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}

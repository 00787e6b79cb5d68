import { parseArgs } from "node:util";

export interface Arguments {
  readonly only: readonly string[];
  readonly json: string | undefined;
  readonly quick: boolean;
  readonly help: boolean;
}

export const USAGE = `pnpm bench [--only NAME …] [--json FILE] [--quick]

  --only NAME   measure this row; may be given again
  --json FILE   write [{name, candidate, floor, unit, ratio, atLeast, pass}]
  --quick       few short rounds: shows that everything runs, the figures are rough`;

/**
 * @throws Error whose message says what is wrong with the command line.
 */
export function readArguments(words: readonly string[], names: readonly string[]): Arguments {
  const { values } = parseArgs({
    args: words.filter((word) => word !== "--"),
    options: {
      only: { type: "string", multiple: true, default: [] },
      json: { type: "string" },
      quick: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const unknown = values.only.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    throw new Error(`There is no row ${unknown.join(", ")}. The rows are: ${names.join(", ")}.`);
  }
  return { only: values.only, json: values.json, quick: values.quick, help: values.help };
}

/** `new Date()` and `Date()` read the machine's clock, and no lint rule knows them. */
import { matchesGlob } from "node:path/posix";

import { parseSync, Visitor } from "oxc-parser";

import { ADAPTERS } from "./architecture.ts";
import { isSource, type TextFile } from "./tree.ts";

/** @returns one line for each ambient reading of the clock outside the adapters. */
export function checkAmbientDates(files: readonly TextFile[]): string[] {
  const breaches: string[] = [];
  for (const file of files.filter(isSource)) {
    if (ADAPTERS.some(({ glob }) => matchesGlob(file.path, glob))) continue;
    const report = (start: number): void => {
      const line = file.text.slice(0, start).split("\n").length;
      breaches.push(`${file.path}:${line}: reads the clock; take \`now\` as an argument`);
    };
    new Visitor({
      NewExpression: ({ callee, arguments: given, start }) => {
        if (callee.type === "Identifier" && callee.name === "Date" && given.length === 0)
          report(start);
      },
      CallExpression: ({ callee, start }) => {
        if (callee.type === "Identifier" && callee.name === "Date") report(start);
      },
    }).visit(parseSync(file.path, file.text).program);
  }
  return breaches;
}

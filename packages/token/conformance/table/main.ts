/** Writes the tables of docs/conformance.md anew, with the libraries of this machine. */
import { readFileSync, writeFileSync } from "node:fs";

import { NO_PYTHON_LIBRARIES, findPython, jose, pythonLibraries } from "../libraries.system.ts";
import { TABLES_BEGIN, TABLES_END, columnOf, stockMarkdown } from "../stock.system.ts";

const python = findPython();
if (python === undefined) throw new Error(NO_PYTHON_LIBRARIES);

const file = new URL("../../../../docs/conformance.md", import.meta.url);
const document = readFileSync(file, "utf8");
const [before, after] = [document.split(TABLES_BEGIN)[0], document.split(TABLES_END)[1]];
if (before === undefined || after === undefined)
  throw new Error("the document has no place for tables");

const columns = [];
for (const library of [jose(), ...pythonLibraries(python)]) columns.push(await columnOf(library));
writeFileSync(
  file,
  `${before}${TABLES_BEGIN}\n\n${stockMarkdown(columns)}\n\n${TABLES_END}${after}`,
);

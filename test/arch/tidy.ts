/** Rules about files as text: names, lengths, suppressions, and what documents may point at. */
import { existsSync } from "node:fs";
import { join } from "node:path/posix";

import { PROBLEMS } from "@vestibule/contracts/problems";

import { LINES_MAX, TEST_LINES_MAX } from "./architecture.ts";
import { isSource, isTest, type TextFile } from "./tree.ts";

const KEBAB = /^\.?[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*$/;
const SNAKE = /^[a-z0-9]+(_[a-z0-9]+)*\.(sql|lua)$/;
const UPPER_NAMES = new Set([
  "README.md",
  "LICENSE",
  "SECURITY.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "NOTICE",
]);
const VAGUE_NAMES = /^(index|utils?|helpers?|common|misc|shared)(\.|$)/;
const FOLDERS = ["apps", "packages", "test", "bench", "docs", "infra", ".ci"];

/** Hosts of package registries and homes on somebody's machine: a clone elsewhere has neither. */
const FOREIGN = [
  new RegExp(["registry", "(npmjs|yarnpkg|npmmirror)"].join("\\.")),
  new RegExp(["deb", "debian", "org"].join("\\.")),
  new RegExp(`https?://[^\\s/"']*registry[^\\s"']*`),
  new RegExp(`(^|[\\s"'\`(=:])/(${["home", "Users", "root", "work"].join("|")})/[\\w.-]`, "m"),
];

const SUPPRESSION = /(oxlint|eslint)-disable|@ts-(expect-error|ignore|nocheck)/;
const SUPPRESSION_WITH_REASON =
  /((oxlint|eslint)-disable(-next-line|-line)?\s+[\w/@, -]+?\s--\s+\S{3,}|@ts-expect-error\s+\S{3,})/;

/** @returns one line for each rule that a file below `root` breaks. */
export function checkTidiness(root: string, files: readonly TextFile[]): string[] {
  return files.flatMap((file) =>
    [
      ...checkName(file.path),
      ...checkLength(file),
      ...checkForeign(file),
      ...(isSource(file) ? checkSuppressions(file) : []),
      ...(file.path.endsWith(".md") ? checkDocument(root, file) : []),
    ].map((breach) => `${file.path}: ${breach}`),
  );
}

function checkName(path: string): string[] {
  const breaches: string[] = [];
  for (const part of path.split("/")) {
    if (!KEBAB.test(part) && !SNAKE.test(part) && !UPPER_NAMES.has(part)) {
      breaches.push(`\`${part}\` is not kebab-case`);
    }
    if (VAGUE_NAMES.test(part)) breaches.push(`\`${part}\` says nothing about what it holds`);
  }
  return breaches;
}

function checkLength(file: TextFile): string[] {
  if (!isSource(file)) return [];
  const lines = file.text.split("\n").length - 1;
  const most = isTest(file.path) ? TEST_LINES_MAX : LINES_MAX;
  return lines > most ? [`${lines} lines, more than ${most}`] : [];
}

function checkForeign(file: TextFile): string[] {
  for (const pattern of FOREIGN) {
    const found = pattern.exec(file.text);
    if (found) return [`names a registry host or a place on one machine: ${found[0].trim()}`];
  }
  return [];
}

function checkSuppressions(file: TextFile): string[] {
  return file.text.split("\n").flatMap((line, index) => {
    const comment = /\/[/*](.*)$/.exec(line)?.[1] ?? "";
    if (!SUPPRESSION.test(comment) || SUPPRESSION_WITH_REASON.test(comment)) return [];
    return [`line ${index + 1} suppresses a rule without a reason`];
  });
}

function checkDocument(root: string, file: TextFile): string[] {
  const exists = (path: string): boolean => existsSync(join(root, path));
  const breaches: string[] = [];

  for (const [, path = ""] of file.text.matchAll(/`([\w.-]+(?:\/[\w.-]+)+)\/?`/g)) {
    if (FOLDERS.includes(path.split("/")[0] ?? "") && !exists(path)) {
      breaches.push(`names \`${path}\`, which is not there`);
    }
  }
  for (const [, link = ""] of file.text.matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)) {
    if (/^[a-z]+:/.test(link)) continue;
    const path = join(file.path, "..", link).replace(/\/$/, "");
    if (path !== "." && !exists(path)) breaches.push(`links to ${link}, which is not there`);
  }
  for (const [, code = ""] of file.text.matchAll(/urn:vestibule:problem:([a-z-]+)/g)) {
    if (!(code in PROBLEMS))
      breaches.push(`names the problem \`${code}\`, which is not registered`);
  }
  for (const [, status, code = ""] of file.text.matchAll(/`([45]\d\d) ([a-z][a-z-]+)`/g)) {
    const problem = Object.entries(PROBLEMS).find(([name]) => name === code)?.[1];
    if (problem?.status !== Number(status)) {
      breaches.push(`names the problem \`${status} ${code}\`, which is not registered`);
    }
  }
  return breaches;
}

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, sep } from "node:path";

import { NOT_OURS } from "./architecture.ts";

const SOURCE = /\.ts$/;
const TEXT =
  /(\.(ts|js|mjs|json|jsonc|md|sql|lua|toml|ya?ml|css|html|svg|txt)|\/run|^[^.]+|\/[^.]+)$/;

export interface TextFile {
  /** Relative to the root, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** Every text file of ours below `root`: the same set for each rule. */
export function readTree(root: string): TextFile[] {
  return walk(root)
    .map((path) => relative(root, path).split(sep).join("/"))
    .filter((path) => TEXT.test(path))
    .toSorted()
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

export function isSource(file: TextFile): boolean {
  return SOURCE.test(file.path);
}

export function isTest(path: string): boolean {
  return /(^|\/)(test|bench)\//.test(path);
}

/** A file that is not deployed, but tests or builds what is: it may use devDependencies. */
export function isDevelopment(path: string): boolean {
  return isTest(path) || /^(apps|packages)\/[^/]+\/build\//.test(path);
}

function walk(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if ((NOT_OURS as readonly string[]).includes(entry.name)) return [];
    if (entry.isDirectory()) return walk(path);
    return entry.isFile() ? [path] : [];
  });
}

/** Lays out a small wrong tree, hands its place to `use`, and removes it. */
export async function withTree<Result>(
  files: Readonly<Record<string, string>>,
  use: (root: string) => Result | Promise<Result>,
): Promise<Result> {
  const root = mkdtempSync(join(tmpdir(), "vestibule-arch-"));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return await use(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** The fences around imports: what each file may reach, by the ranks and by its package.json. */
import { isBuiltin } from "node:module";
import { join } from "node:path/posix";

import { parseSync } from "oxc-parser";

import { BUNDLED_PACKAGES, RANKS } from "./architecture.ts";
import { isDevelopment, isSource, isTest, type TextFile } from "./tree.ts";

const SCOPE = "@vestibule/";
const RUNTIME_MODULES = /^(node|cloudflare):/;
/** Tests of any package may use it; sources may not. */
const TESTKIT = "packages/testkit";

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  /** Names of its own, which start with `#`. */
  readonly imports?: Readonly<Record<string, unknown>>;
}

/** @returns one line for each import that the layout forbids. */
export function checkImports(files: readonly TextFile[]): string[] {
  const packages = new Map<string, { dir: string; manifest: Manifest }>();
  for (const { path, text } of files) {
    if (!/(^|\/)package\.json$/.test(path)) continue;
    const dir = path.replace(/\/?package\.json$/, "");
    packages.set(dir, { dir, manifest: JSON.parse(text) as Manifest });
  }
  const byName = new Map([...packages.values()].map((each) => [each.manifest.name, each]));
  const breaches: string[] = [];

  for (const { dir } of packages.values()) {
    if (dir !== "" && RANKS[dir] === undefined) breaches.push(`${dir}: has no rank`);
  }

  for (const file of files.filter(isSource)) {
    const owner = ownerOf(file.path, packages);
    if (owner === undefined) {
      breaches.push(`${file.path}: belongs to no package`);
      continue;
    }
    const test = isTest(file.path);
    for (const wanted of importsOf(file)) {
      const breach = (why: string): void => void breaches.push(`${file.path}: ${wanted} ${why}`);
      if (wanted.startsWith(".")) {
        const target = join(file.path, "..", wanted);
        // Whatever ranks above all apps tests the configuration at the root, too.
        const atRoot = !target.includes("/") && rank(owner.dir) > rank("apps/edge");
        if (owner.dir !== "" && !target.startsWith(`${owner.dir}/`) && !atRoot) {
          breach("leaves its package");
        }
        continue;
      }
      if (RUNTIME_MODULES.test(wanted)) continue;
      if (wanted.startsWith("#")) {
        if (!(wanted in (owner.manifest.imports ?? {})))
          breach("is not among its package's imports");
        continue;
      }
      if (isBuiltin(wanted)) {
        breach("is a Node module without its node: prefix");
        continue;
      }
      const name = wanted.split("/", wanted.startsWith("@") ? 2 : 1).join("/");
      if (test && name === owner.manifest.name) continue; // a test may stand where a user stands
      const { dependencies = {}, devDependencies = {} } = owner.manifest;
      const bundled = BUNDLED_PACKAGES.includes(owner.dir);
      const development = owner.dir === "" || bundled || isDevelopment(file.path);
      const declared = name in dependencies || (development && name in devDependencies);
      if (!declared) breach("is not declared in its package.json");
      if (!name.startsWith(SCOPE)) continue;
      const target = byName.get(name);
      if (target === undefined) breach("is no package of the workspace");
      else if (!(test && target.dir === TESTKIT) && rank(target.dir) >= rank(owner.dir)) {
        breach(`has rank ${rank(target.dir)}, not below ${rank(owner.dir)}`);
      }
    }
  }
  return breaches;
}

/** Root files (configuration of tools) may import whatever they configure. */
function rank(dir: string): number {
  return dir === "" ? Infinity : (RANKS[dir] ?? NaN);
}

function ownerOf<Package>(
  path: string,
  packages: ReadonlyMap<string, Package>,
): Package | undefined {
  for (let dir = path; dir !== "";) {
    dir = dir.includes("/") ? dir.slice(0, dir.lastIndexOf("/")) : "";
    const found = packages.get(dir);
    if (found) return found;
  }
  return undefined;
}

/** Everything a file imports, types and re-exports included. A computed import is a breach in itself. */
function importsOf(file: TextFile): string[] {
  const { module, errors } = parseSync(file.path, file.text);
  if (errors.length > 0) throw new Error(`${file.path}: ${errors[0]?.message}`);
  return [
    ...module.staticImports.map((each) => each.moduleRequest.value),
    ...module.staticExports.flatMap((each) =>
      each.entries.flatMap((entry) => entry.moduleRequest?.value ?? []),
    ),
    ...module.dynamicImports.flatMap((each) => {
      const text = file.text.slice(each.moduleRequest.start, each.moduleRequest.end);
      return /^["'`][^$]*["'`]$/.test(text) ? [text.slice(1, -1)] : [];
    }),
  ];
}

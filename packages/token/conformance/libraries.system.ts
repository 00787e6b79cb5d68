/** JOSE libraries that are not ours, each behind a small adapter that uses it as its documentation does. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

export interface Library {
  readonly name: string;
  /** As its package says it: a distribution's own corrections included. */
  readonly version: string;
  readonly command: readonly [string, ...string[]];
  /** Variables. It is asked once under each: what it leaves to chance shows then. */
  readonly environments: readonly Readonly<Record<string, string>>[];
}

/** Debian's packages are seen by Debian's Python, whatever else is first on PATH. */
const PYTHONS = ["/usr/bin/python3", "python3"];
const PACKAGES = [
  { name: "PyJWT", module: "jwt", debian: "python3-jwt", folder: "pyjwt", hashSeeds: ["0"] },
  {
    ...{ name: "jwcrypto", module: "jwcrypto", debian: "python3-jwcrypto", folder: "jwcrypto" },
    // It keeps keys in a Python set, whose order is another one under another seed.
    hashSeeds: ["0", "1", "4", "5"],
  },
] as const;

export const NO_PYTHON_LIBRARIES =
  "there is no Python with jwt and jwcrypto: install the packages python3-jwt and python3-jwcrypto";

const adapter = (path: string): string =>
  fileURLToPath(new URL(`adapters/${path}`, import.meta.url));

/** The example in Python, which needs `cryptography` only. */
export function pythonExample(python: string): Library["command"] {
  return [python, adapter("python/main.py")];
}

export function reference(): Library["command"] {
  return [process.execPath, adapter("vestibule/main.ts")];
}

export function jose(): Library {
  const entry = createRequire(import.meta.url).resolve("jose/package.json");
  const { version } = JSON.parse(readFileSync(entry, "utf8")) as { version: string };
  return {
    name: "jose",
    version,
    environments: [{}],
    command: [process.execPath, adapter("jose/main.ts")],
  };
}

/** A Python that has both libraries. */
export function findPython(): string | undefined {
  const imports = `import ${PACKAGES.map(({ module }) => module).join(", ")}`;
  return PYTHONS.find((python) => spawnSync(python, ["-c", imports]).status === 0);
}

export function pythonLibraries(python: string): Library[] {
  return PACKAGES.map(({ name, debian, folder, hashSeeds }) => {
    const command = [python, adapter(`${folder}/main.py`)] as const;
    const installed = spawnSync("dpkg-query", ["-W", "-f=${Version}", debian], {
      encoding: "utf8",
    });
    const own = spawnSync(python, [...command.slice(1), "--version"], { encoding: "utf8" });
    const version = own.stdout.trim();
    const isDebians = python.startsWith("/usr/bin/") && installed.status === 0;
    return {
      name,
      environments: hashSeeds.map((seed) => ({ PYTHONHASHSEED: seed })),
      version: isDebians ? `${version} (Debian ${installed.stdout})` : version,
      command,
    };
  });
}

/**
 * The shape of the repository as data: the linter's configuration and the tests in this folder
 * read it from here and from nowhere else.
 */

/** A package imports only packages of a lower rank, so no cycle between packages can exist. */
export const RANKS: Readonly<Record<string, number>> = {
  "packages/kernel": 0,
  "packages/contracts": 1,
  "packages/drip": 1,
  "packages/client": 2,
  "packages/keys": 2,
  "packages/looks": 3,
  "packages/token": 3,
  "packages/db": 4,
  "packages/feed": 4,
  "packages/service": 4,
  "packages/testkit": 4,
  "packages/valkey": 4,
  "apps/cli": 5,
  "apps/demo": 5,
  "apps/demo-shop": 5,
  "apps/edge": 5,
  "apps/mint": 5,
  "apps/purchase": 5,
  "packages/guard": 5,
  bench: 6,
  test: 6,
};

/** No I/O and nothing of Node: these run in workerd, in Node and in a browser. */
export const PURE_PACKAGES = [
  "packages/kernel",
  "packages/contracts",
  "packages/drip",
  "packages/client",
  "packages/keys",
  "packages/looks",
  "packages/token",
  "packages/feed",
  "packages/guard",
] as const;

/**
 * Published with everything built in: what their sources import is a devDependency, so that a shop that
 * installs them installs nothing else.
 */
export const BUNDLED_PACKAGES: readonly string[] = ["packages/guard"];

/** What is deployed to workerd: nothing of Node here either. */
export const EDGE = "apps/edge";

/**
 * The only sources that may read the machine's clock, its randomness, its timers or its process.
 * Everything else takes `now`, a `Clock`, a `Randomness` or a configuration as an argument.
 */
export const ADAPTERS: readonly { readonly glob: string; readonly why: string }[] = [
  { glob: "**/*.system.ts", why: "implements a port of the kernel with the real thing" },
  { glob: "**/main.ts", why: "an entry point: wires, reads the environment, sets the exit code" },
  { glob: "**/*.browser.ts", why: "runs in the visitor's browser, which has no injected clock" },
  { glob: "apps/cli/start.mjs", why: "an entry point that any Node can read" },
  { glob: "apps/demo/**", why: "a launcher: starts processes, waits for them, paints a terminal" },
  {
    glob: "{apps,packages}/*/build/**",
    why: "builds what is deployed, and runs in Node before it",
  },
  { glob: "packages/guard/examples/**", why: "a shop's own entry points" },
  { glob: "bench/**", why: "measures the machine" },
  { glob: "packages/testkit/**", why: "starts servers for tests" },
  { glob: "test/**", why: "drives a running system" },
  { glob: "**/test/**", why: "tests; test files have rules of their own" },
  { glob: "*.config.ts", why: "configuration of a tool, which runs in Node" },
];

/** Longest file that a reader is asked to take in, in lines. */
export const LINES_MAX = 400;
export const TEST_LINES_MAX = 600;

/** Places where no rule about our sources holds: made by tools, or wrong on purpose. */
export const NOT_OURS = [
  "node_modules",
  "dist",
  ".wrangler",
  ".vestibule",
  ".git",
  "fixtures",
  "vectors",
] as const;

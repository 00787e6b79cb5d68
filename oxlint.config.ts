import { defineConfig } from "oxlint";

import { ADAPTERS, EDGE, PURE_PACKAGES } from "./test/arch/architecture.ts";

const AMBIENT_GLOBALS = [
  { name: "setTimeout", message: "Take a timer port; the real one lives in a *.system.ts file." },
  { name: "setInterval", message: "Take a timer port; the real one lives in a *.system.ts file." },
  { name: "setImmediate", message: "Take a timer port; the real one lives in a *.system.ts file." },
  { name: "process", message: "Read the environment in main.ts and pass configuration on." },
  { name: "performance", message: "Take a Clock; the real one lives in a *.system.ts file." },
];

const AMBIENT_PROPERTIES = [
  { object: "Date", property: "now", message: "Take `now` or a Clock as an argument." },
  { object: "Math", property: "random", message: "Take a Randomness as an argument." },
  { object: "crypto", property: "randomUUID", message: "Take a Randomness as an argument." },
  { object: "crypto", property: "getRandomValues", message: "Take a Randomness as an argument." },
  ...["process", "setTimeout", "setInterval", "performance"].map((property) => ({
    object: "globalThis",
    property,
    message: "Ambient, also when it is reached through globalThis.",
  })),
];

const AMBIENT_MODULES = [
  ...["node:process", "node:timers", "node:timers/promises", "node:perf_hooks"].map((name) => ({
    name,
    message: "Ambient: belongs in an adapter file (*.system.ts, main.ts).",
  })),
  {
    name: "node:crypto",
    importNames: ["randomBytes", "randomFill", "randomFillSync", "randomInt", "randomUUID"],
    message: "Take a Randomness as an argument.",
  },
];

const NODE_MODULES = {
  group: [
    "node:*",
    "fs",
    "path",
    "crypto",
    "buffer",
    "process",
    "stream",
    "util",
    "events",
    "timers",
  ],
  message: "This code runs in workerd and in browsers, where there is no Node.",
};
const NODE_GLOBALS = ["Buffer", "process", "require", "__dirname", "__filename", "global"].map(
  (name) => ({ name, message: "This code runs in workerd and in browsers: no Node here." }),
);
const SIGNING = {
  group: [
    "@vestibule/token/sign*",
    "**/token/src/sign*",
    "@vestibule/testkit/*",
    "@vestibule/db/*",
  ],
  message: "The edge cannot mint (law 6) and reaches no database.",
};

const WITHOUT_NODE = [...PURE_PACKAGES, EDGE];

export default defineConfig({
  plugins: ["eslint", "typescript", "unicorn", "oxc", "import", "promise", "node", "vitest"],
  options: { denyWarnings: true, typeAware: true, reportUnusedDisableDirectives: "error" },
  categories: { correctness: "error", suspicious: "error" },
  ignorePatterns: ["**/fixtures/**", "**/dist/**", "**/.wrangler/**"],
  rules: {
    eqeqeq: "error",
    "no-console": "error",
    "no-var": "error",
    "prefer-const": "error",
    "no-await-in-loop": "off", // order is often the point, and a bounded loop says so
    "no-underscore-dangle": "off",
    "no-shadow": "off",
    // noImplicitReturns sees the same, and knows when a switch is exhaustive.
    "typescript/consistent-return": "off",
    // no-floating-promises is the rule that matters; these forbid `then` with a body or a callback.
    "promise/always-return": "off",
    "promise/no-callback-in-promise": "off",
    "max-lines-per-function": ["error", { max: 100, skipBlankLines: true, skipComments: true }],
    "max-params": ["error", { max: 4 }],
    "import/no-cycle": "error",
    "import/no-default-export": "error",
    "import/no-unassigned-import": "off",
    // `fc.integer()` is how fast-check is written everywhere.
    "import/no-named-as-default": "off",
    "import/no-named-as-default-member": "off",
    "typescript/no-explicit-any": "error",
    "typescript/no-floating-promises": "error",
    "typescript/no-misused-promises": "error",
    "typescript/no-non-null-assertion": "error",
    "typescript/switch-exhaustiveness-check": "error",
    "typescript/only-throw-error": "error",
    "typescript/no-unsafe-type-assertion": "off", // brands and parsed JSON need them, at the boundary
    "unicorn/no-array-sort": "off",
    "unicorn/consistent-function-scoping": "off",
    "unicorn/require-module-specifiers": "off",
    // `...(x === undefined ? {} : { x })` is how an optional member stays absent.
    "unicorn/no-useless-spread": "off",
    "no-restricted-globals": ["error", ...AMBIENT_GLOBALS],
    "no-restricted-properties": ["error", ...AMBIENT_PROPERTIES],
    "no-restricted-imports": ["error", { paths: AMBIENT_MODULES }],
  },
  overrides: [
    {
      files: ADAPTERS.map(({ glob }) => glob),
      rules: {
        "no-console": "off",
        "no-restricted-globals": "off",
        "no-restricted-properties": "off",
        "no-restricted-imports": "off",
      },
    },
    {
      // Adapters of pure packages and of the edge may be ambient, but never of Node.
      files: WITHOUT_NODE.map((dir) => `${dir}/src/**`),
      rules: {
        "no-restricted-globals": ["error", ...NODE_GLOBALS, ...AMBIENT_GLOBALS],
        "no-restricted-imports": ["error", { patterns: [NODE_MODULES] }],
      },
    },
    {
      files: WITHOUT_NODE.flatMap((dir) =>
        ["system", "browser"].map((kind) => `${dir}/src/**/*.${kind}.ts`),
      ).concat(WITHOUT_NODE.map((dir) => `${dir}/src/**/main.ts`)),
      rules: { "no-restricted-globals": ["error", ...NODE_GLOBALS] },
    },
    {
      files: [`${EDGE}/src/**`],
      rules: { "no-restricted-imports": ["error", { patterns: [NODE_MODULES, SIGNING] }] },
    },
    {
      // The last are the parts of `proxy.test.ts`, which share one running system.
      files: ["**/*.test.ts", "test/e2e/proxy/*.ts"],
      rules: {
        // A test waits for a condition (vi.waitFor, expect.poll), never for time to pass.
        "no-restricted-globals": ["error", ...AMBIENT_GLOBALS.slice(0, 2)],
        "no-restricted-imports": [
          "error",
          {
            paths: [
              {
                name: "node:timers/promises",
                message: "A test waits for a condition, not for time.",
              },
            ],
          },
        ],
        "max-lines-per-function": "off",
        "typescript/no-non-null-assertion": "off",
        "vitest/expect-expect": [
          "error",
          { assertFunctionNames: ["expect*", "assert*", "fc.assert"] },
        ],
        // A property holds for the cases that its condition selects.
        "vitest/no-conditional-expect": "off",
      },
    },
    {
      files: [
        "*.config.ts",
        "apps/edge/src/main.ts",
        "**/*.worker.ts",
        "test/reporter.ts",
        "**/*.global-setup.ts",
      ],
      rules: { "import/no-default-export": "off" }, // the tool or runtime asks for a default export
    },
  ],
});

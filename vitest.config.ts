import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

/** `VESTIBULE_SEED=n` repeats a run; `VESTIBULE_RUNS=n` makes each property try n cases. */
const seed = Number(process.env["VESTIBULE_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const runs = Number(process.env["VESTIBULE_RUNS"] ?? 100);

const everywhere = "{apps,packages}/*/test/**";
const setupFiles = ["packages/testkit/src/fast-check.setup.ts"];
const elsewhere = ["**/node_modules/**", "**/fixtures/**"];

/** What every project shares. `provide` is how a seed reaches workerd, which has no environment. */
const shared = {
  setupFiles,
  provide: { seed, runs },
  allowOnly: false,
  retry: 0,
  // Enumerations and properties take seconds on a busy machine; a hang is still told soon.
  testTimeout: 30_000,
};

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      {
        // Fast tests in Node, without services.
        test: {
          ...shared,
          name: "unit",
          // The edge's tests that run in Node too import the page that it builds.
          globalSetup: ["apps/edge/build/page.global-setup.ts"],
          include: [`${everywhere}/*.test.ts`, "bench/test/*.test.ts"],
          exclude: [
            ...elsewhere,
            "**/*.{pg,valkey,workerd,e2e}.test.ts",
            "apps/edge/test/**/!(*.node|*.both).test.ts",
          ],
        },
      },
      {
        // The same runtime as the edge in production. What is named `.both` runs in Node as well.
        plugins: [cloudflareTest({ wrangler: { configPath: "./wrangler.toml" } })],
        test: {
          ...shared,
          name: "workerd",
          globalSetup: ["apps/edge/build/page.global-setup.ts"],
          include: [`${everywhere}/*.{workerd,both}.test.ts`, "apps/edge/test/**/*.test.ts"],
          exclude: [...elsewhere, "**/*.{pg,valkey,node,e2e}.test.ts"],
        },
      },
      {
        // On a real PostgreSQL, one server for all, one database per file; on a real Valkey or Redis, one per file.
        test: {
          ...shared,
          name: "integration",
          include: [`${everywhere}/*.{pg,valkey}.test.ts`],
          exclude: elsewhere,
          globalSetup: ["packages/testkit/src/postgres.global-setup.ts"],
          hookTimeout: 60_000,
        },
      },
      {
        // Whole sales in virtual time, with everything going wrong. Its threads are its own.
        test: {
          ...shared,
          name: "simulation",
          include: ["test/simulation/**/*.test.ts"],
          exclude: elsewhere,
          fileParallelism: false,
        },
      },
      {
        // The running system, through HTTP and a browser: one for each file, which mostly wait for time to pass.
        test: {
          ...shared,
          name: "e2e",
          globalSetup: ["apps/edge/build/page.global-setup.ts"],
          include: ["test/e2e/**/*.test.ts", `${everywhere}/*.e2e.test.ts`],
          exclude: elsewhere,
          testTimeout: 120_000,
          hookTimeout: 180_000,
        },
      },
      {
        // Its processes, killed and cut off under load: they want the machine for themselves.
        test: {
          ...shared,
          name: "torture",
          include: ["test/torture/**/*.test.ts"],
          exclude: elsewhere,
          fileParallelism: false,
        },
      },
      {
        // The fences around all of the above.
        test: {
          ...shared,
          name: "arch",
          include: ["test/arch/**/*.test.ts"],
          exclude: elsewhere,
          testTimeout: 60_000,
        },
      },
    ],
  },
});

import { expect, test } from "vitest";

import { ancestors, areAlive, launchers } from "../src/ancestors.ts";

const ancestor = (command: string, pid = 1) => ({ identity: { pid, began: "once" }, command });

test.each<[string, string[], number]>([
  [
    "npx, its shell, pnpm and its shell",
    ["sh -c node start.mjs", "pnpm start", "sh -c pnpm start", "npm exec pnpm@12 start", "-bash"],
    4,
  ],
  ["pnpm as a script", ["sh -c node start.mjs", "node /usr/lib/pnpm.cjs start", "bash"], 2],
  ["no package manager", ["-bash", "sshd: someone"], 0],
  ["a shell whose words are about one", ["sh -c x", "pnpm start", "bash -c npx pnpm start & a"], 2],
  ["a program between", ["sh -c x", "node harness.js", "npm test"], 0],
])("%s: exactly those belong to the start", (_, commands, count) => {
  expect(launchers(commands.map((command) => ancestor(command))).length).toBe(count);
});

test("the ancestors of a process are found, and live", () => {
  const all = ancestors(process.pid);
  expect(all[0]?.identity.pid).toBe(process.ppid);
  expect(areAlive(all)).toBe(true);
  expect(areAlive([...all, ancestor("npx", process.pid)])).toBe(false);
});

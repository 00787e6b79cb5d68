import { expect, test } from "vitest";

import { StartFailure, explainFileError, isDiskFull, lineFor } from "../src/failure.ts";
import { explainEnd, lastWords, missing } from "../src/supervisor.ts";

const ended = (tail: string) => ({ name: "mint", tail, end: "exit code 1" });
const fileError = (code: string) => Object.assign(new Error(`${code}: it failed`), { code });

test.each([
  ["ENOSPC", "disk is full"],
  ["EDQUOT", "disk is full"],
  ["EACCES", "cannot be written"],
  ["EROFS", "cannot be written"],
  ["ENOTDIR", "not a directory"],
])("%s becomes one line that names the directory and --data", (code, words) => {
  const line = lineFor(explainFileError(fileError(code), "/the/place"));
  expect(line).toContain(words);
  expect(line).toContain("/the/place");
  expect(line).toContain("--data");
  expect(line).not.toContain("\n");
});

test.each([
  "initdb: error: could not write to file: No space left on device",
  "PANIC:  could not write to file: No space left on device",
  fileError("ENOSPC"),
])("a full disk is recognized in %s", (words) => {
  expect(isDiskFull(words)).toBe(true);
});

test("a part that finds the disk full or its port taken says so instead of its stack", () => {
  expect(explainEnd(ended("No space left on device"), "/l").message).toContain("disk is full");
  expect(explainEnd(ended("Error: listen EADDRINUSE"), "/l").message).toContain("--port-base");
});

test("the last words are those about the error, without the stack", () => {
  const tail = `file:///app/main.ts:3
throw new Error("no such key");
      ^

Error: no such key
    at main (file:///app/main.ts:3:7)
    at node:internal/run:5:1 {
  code: 'X'
}

Node.js v24.0.0
`;
  expect(lastWords(tail)).toContain("Error: no such key");
  expect(lastWords(tail)).not.toMatch(/ at |Node\.js/);
  expect(lastWords("")).toBe("");
});

test("of a configuration every mistake is shown", () => {
  const tail =
    "The configuration has mistakes:\n  TRUST_PROXY_HOPS: must be a whole number\n  VESTIBULE_X is not a setting\n";
  const words = lastWords(tail);
  expect(words).toContain("TRUST_PROXY_HOPS: must be a whole number");
  expect(words).toContain("VESTIBULE_X is not a setting");
});

test("of a structured log the messages of errors are shown, never a stack", () => {
  const log = [
    { level: "info", msg: "listening" },
    { level: "error", msg: "start-failed", error: { message: "no key", stack: "at secret.ts" } },
  ];
  const words = lastWords(log.map((line) => JSON.stringify(line)).join("\n"));
  expect(words).toContain("start-failed: no key");
  expect(words).not.toMatch(/secret|listening/);
});

test("data whose schema these sources do not know are another version's", () => {
  const tail = "Error: migration 2 (keys) was changed after it was applied";
  expect(explainEnd(ended(tail), "/l").message).toMatch(/another version.*--reset/);
});

test("a program that is not there says how to get it", () => {
  const failure = missing("PostgreSQL", fileError("ENOENT"));
  expect(failure).toBeInstanceOf(StartFailure);
  expect(failure.message).toMatch(/not installed.*install scripts/);
});

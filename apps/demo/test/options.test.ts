import { describe, expect, test } from "vitest";

import { HELP, commandWith, readOptions } from "../src/options.ts";

const DIRECTORY = "/somewhere";

describe("arguments that are right", () => {
  test("nothing on the command line leaves everything to what is there, and to the defaults", () => {
    expect(readOptions([], DIRECTORY)).toEqual({
      ok: true,
      value: {
        fans: undefined,
        ratePerMinute: undefined,
        seats: undefined,
        lifetimeSeconds: undefined,
        horizonSeconds: undefined,
        presence: undefined,
        portBase: undefined,
        dataDir: undefined,
        readyFile: undefined,
        reset: false,
      },
    });
  });

  test("every documented option is read, with a space or with an equals sign", () => {
    const args =
      "--fans 5 --rate=60 --seats 7 --lifetime 30 --horizon=10 --presence confirm --port-base 9000 --reset --data d --ready-file /r";
    expect(readOptions(args.split(" "), DIRECTORY)).toEqual({
      ok: true,
      value: {
        fans: 5,
        ratePerMinute: 60,
        seats: 7,
        lifetimeSeconds: 30,
        horizonSeconds: 10,
        presence: "confirm",
        portBase: 9000,
        reset: true,
        dataDir: "/somewhere/d",
        readyFile: "/r",
      },
    });
    for (const name of args.match(/--[a-z-]+/g) ?? []) expect(HELP).toContain(name);
  });

  test("two dashes in front, which package managers hand on, mean nothing", () => {
    expect(readOptions(["--", "--fans", "0"], DIRECTORY)).toMatchObject({ value: { fans: 0 } });
  });

  test.each(["--help", "-h"])("%s asks for help, whatever else is asked", (flag) => {
    expect(readOptions(["--reset", flag], DIRECTORY)).toEqual({ ok: true, value: "help" });
  });
});

describe("a hint to copy", () => {
  test.each([
    [[], "npx -y pnpm@12 start --port-base 9000"],
    [["--fans", "5", "--reset"], "npx -y pnpm@12 start --fans 5 --reset --port-base 9000"],
    [["--port-base", "8787", "--rate=60"], "npx -y pnpm@12 start --rate=60 --port-base 9000"],
    [["--", "--port-base=1", "--fans", "1"], "npx -y pnpm@12 start --fans 1 --port-base 9000"],
    [["--data", "it's here"], "npx -y pnpm@12 start --data 'it'\\''s here' --port-base 9000"],
  ])("%j keeps what was asked for, and changes the ports only", (args, command) => {
    expect(commandWith(args, 9000)).toBe(command);
  });
});

describe("arguments that are wrong", () => {
  test.each([
    ["--fans", "needs a value"],
    ["--fans -5", "--fans"],
    ["--fans=-5", "from 0 to"],
    ["--fans 1e3", "whole number"],
    ["--fans 1.5", "whole number"],
    ["--rate 0", "from 1 to"],
    ["--rate 99999999999", "from 1 to"],
    ["--seats 0", "from 1 to"],
    ["--lifetime 9", "from 10 to"],
    ["--horizon 601", "from 10 to 600"],
    ["--presence maybe", "takes auto or confirm"],
    ["--presence", "needs a value"],
    ["--port-base 65532", "from 1 to 65531"],
    ["--data=", "needs a value"],
    ["--reset=yes", "takes no value"],
    ["--sets 5", "--sets is not an option"],
    ["fans", '"fans" is not an option'],
    ["--fans 1 --fans 2", "given twice"],
  ])("%s is refused with a line that names it", (args, words) => {
    const read = readOptions(args.split(" "), DIRECTORY);
    expect(read.ok).toBe(false);
    expect(read.ok || read.refusal.join("\n")).toContain(words);
  });

  test("every mistake is named at once", () => {
    const read = readOptions(["--fans", "x", "--rate", "y", "--nope"], DIRECTORY);
    expect(read).toMatchObject({ ok: false, refusal: { length: 3 } });
  });
});

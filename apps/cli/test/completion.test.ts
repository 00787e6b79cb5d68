import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { World } from "./support/fake-platform.ts";

const BIN = resolve(import.meta.dirname, "../bin/vestibule");

const proposals = async (world: World, ...words: string[]): Promise<readonly string[]> => {
  const { code, out, err } = await world.run(["__complete", ...words]);
  expect([code, err]).toEqual([0, ""]);
  return out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split("\t")[0] ?? "");
};

describe("proposals", () => {
  it("are commands, options and their values", async () => {
    const world = await World.start();
    expect(await proposals(world, "")).toEqual(
      expect.arrayContaining(["keys", "edges", "completion"]),
    );
    expect(await proposals(world, "keys", "re")).toEqual(["retire", "revoke"]);
    expect(await proposals(world, "keys", "rotate", "--u")).toEqual(["--use", "--until"]);
    expect(await proposals(world, "keys", "stage", "--use", "")).toEqual(["line", "admission"]);
    expect(await proposals(world, "completion", "z")).toEqual(["zsh"]);
    expect(await proposals(world, "nothing", "")).toEqual([]);
  });

  it("are the keys that a step is possible for, where a mint answers", async () => {
    const world = await World.start();
    const staged = [world.mint.key("line", "staged"), world.mint.key("admission", "staged")];
    expect(await proposals(world, "keys", "activate", "")).toEqual(expect.arrayContaining(staged));
    const [first = ""] = staged;
    expect(await proposals(world, "keys", "activate", first.slice(0, 5))).toEqual([first]);
    world.mint.broken = () => "away";
    expect(await proposals(world, "keys", "activate", first.slice(0, 5))).toEqual([]);
    const { code, out, err } = await world.run(["__complete", "keys", "activate", ""], {
      environment: {},
    });
    expect([code, err]).toEqual([0, ""]);
    expect(out).not.toContain(first);
  });
});

describe("the shell's script", () => {
  let place: string;
  beforeAll(() => {
    place = mkdtempSync(join(tmpdir(), "vestibule-cli-"));
    symlinkSync(BIN, join(place, "vestibule"));
  });
  afterAll(() => rmSync(place, { recursive: true, force: true }));

  const environment = (): NodeJS.ProcessEnv => ({
    PATH: [place, process.env["PATH"]].join(delimiter),
    HOME: place,
  });

  it("of bash completes in bash, by the command as it is on PATH", () => {
    const script = `
      eval "$(vestibule completion bash)"
      complete -p vestibule
      complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _vestibule; echo "\${COMPREPLY[*]}"; }
      complete_words vestibule ke
      complete_words vestibule keys rot
      complete_words vestibule keys rotate --use a
      complete_words vestibule keys list --js
    `;
    const { stdout, stderr, status } = spawnSync("bash", ["-c", script], {
      env: environment(),
      encoding: "utf8",
    });
    expect([stderr, status]).toEqual(["", 0]);
    expect(stdout.split("\n")).toEqual([
      "complete -F _vestibule vestibule",
      ...["keys", "rotate", "admission", "--json", ""],
    ]);
  });

  it("and the command itself ends with an exit code and a message, not with a stack", () => {
    const run = (...args: string[]) =>
      spawnSync(join(place, "vestibule"), args, { env: environment(), encoding: "utf8" });
    const version = run("--version");
    expect([version.status, version.stdout]).toEqual([0, expect.stringMatching(/^\d/)]);
    const list = run("keys", "list");
    expect(list.status).toBe(2);
    expect(list.stderr).toMatch(/VESTIBULE_MINT_URL is required/);
    expect(list.stderr).not.toMatch(/\n\s+at /);
    expect(existsSync(BIN)).toBe(true);
  });
});

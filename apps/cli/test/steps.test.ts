import { KEY_STAGED_SECONDS } from "@vestibule/contracts/limits";
import { describe, expect, it } from "vitest";
import { UnreachableError } from "../src/platform.ts";
import { World } from "./support/fake-platform.ts";

const STAGED_MS = KEY_STAGED_SECONDS * 1_000;

/** A world whose staged admission key is young: one rotation is done. */
async function rotated(): Promise<World> {
  const world = await World.start();
  expect((await world.run(["keys", "rotate", "--yes"])).code).toBe(0);
  world.mint.audit.length = 0;
  world.clock.advance(60_000);
  return world;
}

const kids = (world: World, state: "staged" | "signing" | "retiring"): string =>
  world.mint.key("admission", state);

describe("a change", () => {
  it("says first what it will do, and is not done without a yes: no terminal is a refusal with exit code 3", async () => {
    const world = await World.start();
    const [old, next] = [kids(world, "signing"), kids(world, "staged")];
    const ran = await world.run(["keys", "activate", next]);
    expect(ran.code).toBe(3);
    expect(ran.out).toContain(`${next.slice(0, 8)}        staged -> signing`);
    expect(ran.out).toContain(`${old.slice(0, 8)}        signing -> retiring`);
    expect(ran.out).toMatch(/affected +nobody\n +safe +now\n +run again +safe/);
    expect(ran.err).toMatch(/no terminal to ask at, and --yes was not given/);
    expect(kids(world, "signing")).toBe(old);
  });

  it.each([
    ["y", 0],
    ["yes", 0],
    ["n", 3],
    ["", 3],
    ["maybe", 3],
  ])("is asked for at a terminal: %j ends with %i", async (answer, code) => {
    const world = await World.start();
    const next = kids(world, "staged");
    const ran = await world.run(["keys", "activate", next.slice(0, 10)], { answer });
    expect(ran.code).toBe(code);
    expect(kids(world, "signing") === next).toBe(code === 0);
  });

  it("with --json prints what the mint says, and everything else on the error stream", async () => {
    const world = await World.start();
    const next = kids(world, "staged");
    const ran = await world.run([
      "keys",
      "activate",
      next,
      "--yes",
      "--json",
      "--reason",
      "planned",
    ]);
    expect(ran.json).toMatchObject({ changed: true, key: { kid: next, state: "signing" } });
    expect(ran.out.trimEnd().split("\n")).toHaveLength(1);
    expect(ran.err).toContain("staged -> signing");
    expect(world.mint.audit).toEqual(["activate planned"]);
    const again = await world.run(["keys", "activate", next, "--yes", "--json"]);
    expect([again.code, again.json.changed]).toEqual([0, false]);
  });

  it("whose answer is lost is not known to be done, and may be asked for again", async () => {
    const world = await World.start();
    const next = kids(world, "staged");
    world.mint.broken = ({ url }) => (url.endsWith("/activate") ? "away" : undefined);
    const ran = await world.run(["keys", "activate", next, "--yes"]);
    expect([ran.code, ran.err]).toEqual([1, expect.stringMatching(/not known. Run it again/)]);
  });
});

describe("a step that is not safe yet", () => {
  it("is refused with exit code 4, the time by the reader's clock, and how long that is", async () => {
    const world = await rotated();
    const ran = await world.run(["keys", "activate", kids(world, "staged"), "--yes", "--json"]);
    expect(ran.code).toBe(4);
    expect(ran.err).toMatch(/Not yet: it is safe from 00:04:25 UTC on, in 3 min 25 s/);
    expect(ran.json).toMatchObject({
      code: "not-yet-safe",
      safeFrom: 1_767_225_600_000 + STAGED_MS,
    });
    const old = await world.run(["keys", "retire", kids(world, "retiring"), "--yes"]);
    expect([old.code, old.err]).toEqual([4, expect.stringMatching(/in 12 min 10 s/)]);
  });

  it("is waited for with --wait, with progress, and done then", async () => {
    const world = await rotated();
    const next = kids(world, "staged");
    const ran = await world.run(["keys", "activate", next, "--wait", "--yes"]);
    expect(ran.code).toBe(0);
    expect(kids(world, "signing")).toBe(next);
    expect(ran.err).toMatch(/until it is safe: 3 min 25 s left, until 00:04:25/);
    expect(world.clock.now()).toBeGreaterThanOrEqual(1_767_225_600_000 + STAGED_MS);
  });

  it.each([60, 72, 80, 100])(
    "tells the whole end time, or none, on %i columns",
    async (columns) => {
      const world = await rotated();
      const how = { isTerminal: true, columns };
      const ran = await world.run(
        ["keys", "activate", kids(world, "staged"), "--wait", "--yes"],
        how,
      );
      const painted = ran.err.split("\r\u001b[2K").filter((text) => text.includes(" left"));
      expect(painted.length).toBeGreaterThan(10);
      for (const text of painted) {
        expect(text.length).toBeLessThan(columns);
        expect(text).toMatch(/ left(?:, until \d\d:\d\d:\d\d)?$/);
      }
      expect(painted[0]?.includes("until 00:04:25")).toBe(columns >= 72);
    },
  );

  it("is done with --force and a reason, which is written down, after a warning", async () => {
    const world = await rotated();
    const next = kids(world, "staged");
    const reason = "the vendor asked for it";
    const ran = await world.run(["keys", "activate", next, "--force", "--reason", reason, "--yes"]);
    expect(ran.code).toBe(0);
    expect(ran.out).toMatch(/affected +whoever is at a location whose copy/);
    expect(ran.out).toMatch(/Forced before it is safe: some valid tokens will be refused/);
    expect(world.mint.audit).toEqual([`activate forced ${reason}`]);
  });
});

describe("revoking", () => {
  it("needs no safe moment, says whom it costs what, and which key signs then", async () => {
    const world = await rotated();
    const [old, next] = [kids(world, "signing"), kids(world, "staged")];
    const ran = await world.run(["keys", "revoke", old, "--yes", "--reason", "in a paste"]);
    expect(ran.code).toBe(0);
    expect(ran.out).toMatch(/claims again, and\s+keeps the slot/);
    expect(ran.out).toContain(`${next.slice(0, 8)}        staged -> signing, at once`);
    expect(kids(world, "signing")).toBe(next);
    const line = await world.run(["keys", "revoke", world.mint.key("line", "signing")]);
    expect(line.out.replaceAll(/\s+/g, " ")).toMatch(/loses the place and joins anew, at the end/);
  });
});

describe("a kid", () => {
  it("may be shortened as long as it names one key", async () => {
    const world = await World.start();
    const { json } = await world.run(["keys", "list", "--json"]);
    const [kid] = json.keys.map((key: { kid: string }) => key.kid);
    const twin = { ...json.keys[0], kid: `${kid.slice(0, 20)}twin` };
    world.mint.broken = ({ method }) =>
      method === undefined ? [200, { ...json, keys: [...json.keys, twin] }] : undefined;
    const both = await world.run(["keys", "revoke", kid.slice(0, 6), "--yes"]);
    expect([both.code, both.err]).toEqual([2, expect.stringMatching(/more than one key.*twin/)]);
    expect((await world.run(["keys", "revoke", kid.slice(0, 3), "--yes"])).code).toBe(2);
    expect((await world.run(["keys", "revoke", kid.slice(0, 24), "--yes"])).code).toBe(0);
  });
});

describe("staging", () => {
  it("finds a staged key and does nothing; --another makes one more", async () => {
    const world = await World.start();
    const stage = ["keys", "stage", "--use", "line", "--yes", "--json"];
    const first = await world.run(stage);
    expect([first.code, first.json.changed]).toEqual([0, false]);
    expect(first.err).toMatch(/staged already.*0 s ago/);
    const second = await world.run([...stage, "--another"]);
    expect([second.code, second.json.changed]).toEqual([0, true]);
  });

  it("that is asked for twice on one look makes one key", async () => {
    const world = await World.start();
    const { json } = await world.run(["keys", "list", "--json"]);
    const stage = ["keys", "stage", "--use", "line", "--another", "--yes"];
    expect((await world.run(stage)).code).toBe(0);
    // The same look again, as for a repetition by somebody who saw no answer.
    world.mint.broken = ({ method }) => (method === undefined ? [200, json] : undefined);
    const again = await world.run(stage);
    expect([again.code, again.err]).toEqual([1, expect.stringMatching(/nothing was done now/)]);
    expect(world.mint.audit).toEqual(["stage"]);
  });
});

describe("a rotation", () => {
  it("takes all steps: it waits until the next key may sign, and lets it", async () => {
    const world = await rotated();
    const next = kids(world, "staged");
    const began = world.clock.now();
    const ran = await world.run(["keys", "rotate", "--yes", "--json"]);
    expect(ran.json).toMatchObject({ changed: true, key: { kid: next, state: "signing" } });
    expect(world.clock.now() - began).toBeGreaterThanOrEqual(STAGED_MS - 61_000);
    expect(world.mint.audit).toEqual(["activate vestibule keys rotate"]);
  });

  it("that is interrupted says so, and goes on where it was when it is run again", async () => {
    const world = await rotated();
    const next = kids(world, "staged");
    const rotate = ["keys", "rotate", "--yes", "--json"];
    const stopped = await world.run(rotate, { interrupt: (waits) => waits > 20 });
    expect(stopped.code).toBe(130);
    expect(stopped.err).toMatch(/Interrupted. Nothing is half done/);
    expect(stopped.err).toContain(`${next.slice(0, 8)}  staged`);
    expect(world.mint.audit).toEqual([]);
    const resumed = await world.run(rotate);
    expect(resumed.json).toMatchObject({ changed: true, key: { kid: next } });
    expect(world.mint.audit).toEqual(["activate vestibule keys rotate"]);
  });

  it("whose answer is lost is asked for again, and done once", async () => {
    const world = await World.start();
    const next = kids(world, "staged");
    let lost = 0;
    const { send } = world.mint;
    world.mint.send = async (request) => {
      const answer = await send(request);
      if (request.url.endsWith("/activate") && (lost += 1) < 3)
        throw new UnreachableError("ECONNRESET");
      return answer;
    };
    const ran = await world.run(["keys", "rotate", "--yes", "--json"]);
    expect(ran.json).toMatchObject({ changed: true, key: { kid: next, state: "signing" } });
    expect([ran.code, lost]).toEqual([0, 3]);
    expect(world.mint.audit).toEqual(["activate vestibule keys rotate"]);
  });

  it("waits for the end of the overlap when that is asked for, also when it is interrupted in between", async () => {
    const world = await World.start();
    const old = kids(world, "signing");
    const rotate = ["keys", "rotate", "--until", "retired", "--yes", "--json"];
    const stopped = await world.run(rotate, { interrupt: (waits) => waits > 10 });
    expect(stopped.code).toBe(130);
    world.clock.advance(400_000);
    const resumed = await world.run(rotate);
    expect([resumed.code, resumed.json.changed]).toEqual([0, false]);
    expect(kids(world, "retiring")).toBe("");
    expect(resumed.err).toContain(`${old.slice(0, 8)} is retired.`);
    expect(resumed.err).toMatch(/the\s+overlap\s+of\s+that\s+rotation\s+lasts/);
    expect(world.mint.audit).toEqual(["activate vestibule keys rotate"]);
  });

  it("goes on through a mint that is away for a while, and gives up on one that stays away", async () => {
    const world = await rotated();
    let asked = 0;
    world.mint.broken = ({ method }) =>
      method === undefined && (asked += 1) > 2 && asked < 8 ? "away" : undefined;
    const rotate = ["keys", "rotate", "--yes"];
    expect((await world.run(rotate)).code).toBe(0);
    world.mint.broken = ({ method }) =>
      method === undefined && (asked += 1) > 20 ? "away" : undefined;
    asked = 0;
    const ran = await world.run(rotate);
    expect([ran.code, ran.err]).toEqual([1, expect.stringMatching(/goes on where this one was/)]);
  });

  it("stages a key when none is staged", async () => {
    const world = await World.start();
    const { json } = await world.run(["keys", "list", "--json"]);
    let looks = 0;
    world.mint.broken = ({ method }) => {
      if (method !== undefined || (looks += 1) > 1) return undefined;
      return [
        200,
        { ...json, keys: json.keys.filter(({ state }: { state: string }) => state !== "staged") },
      ];
    };
    const ran = await world.run(["keys", "rotate", "--yes"]);
    expect(ran.code).toBe(0);
    expect(world.mint.audit).toEqual([
      "stage vestibule keys rotate",
      "activate vestibule keys rotate",
    ]);
  });
});

import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DripClaims } from "@vestibule/contracts/statements";
import { runRandomness } from "@vestibule/testkit/run-seed";
import { hashVisitor } from "@vestibule/token/visitor";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemSecretFiles } from "../src/secret-files.system.ts";
import { partOf } from "../src/token-part.ts";
import { type Run, World } from "./support/fake-platform.ts";

const EVENT = {
  ...{ event: "spring", title: "Spring", hosts: ["tickets.example"], lifetimeSeconds: 600 },
  ...{ endsAt: 4_102_444_800_000, version: 1 },
};
const HORIZON_MS = 10_000;

let folder: string;
let names = 0;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), "vestibule-admissions-"))));
afterAll(() => rmSync(folder, { recursive: true }));

/** The places of `count` people in a file of the real command, and a line that has committed nothing. */
async function start(count: number, ending = "jsonl") {
  const world = await World.start();
  world.mint.events.set("spring", { ...EVENT } as never);
  const places = join(folder, `places-${(names += 1)}.${ending}`);
  const out = join(folder, `admissions-${names}.${ending}`);
  const ids = Array.from({ length: count }, (_, index) => `fan-${index}`);
  const args = ["premint", "--event", "spring", "--in", "people.csv", "--out", places];
  const given = await world.run(args, { files: { "people.csv": `id\n${ids.join("\n")}\n` } });
  expect(given.code).toBe(0);
  const run = (more: readonly string[] = [], how: Run = {}) =>
    world.run(["admissions", "--in", places, "--out", out, ...more], how);
  return { world, places, out, run, from: world.clock.now() };
}

/** One slot every `everyMs` from `from` on, committed up to the horizon, for `count` numbers. */
function dripping(
  { from, everyMs, count }: { from: number; everyMs: number; count: number },
  more: Partial<DripClaims> = {},
) {
  return (now: number): Partial<DripClaims> => {
    const ahead = Math.floor((now + HORIZON_MS - from) / everyMs);
    const committed = Math.max(0, Math.min(count, ahead));
    const until = from + committed * everyMs;
    const segments = committed === 0 ? [] : [{ base: 1, count: committed, from, until }];
    return { segments, committed, issued: count, rate: Math.round(60_000 / everyMs), ...more };
  };
}

interface Line {
  readonly id: string;
  readonly number: number;
  readonly state: string;
  readonly opensAt: number;
  readonly admission: string;
}
const linesOf = (path: string): Line[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);

/** The last line of each number, as a reader of the file takes them. */
const lastOf = (path: string): Map<number, Line> =>
  new Map(linesOf(path).map((line) => [line.number, line]));

/** Everybody has an admission of their own, for the slot that the line says. */
function expectWhole(path: string, count: number, slotAt: (n: number) => number): void {
  const last = lastOf(path);
  expect(last.size).toBe(count);
  for (const [number, { id, state, opensAt, admission }] of last) {
    expect([id, state, opensAt]).toEqual([`fan-${number - 1}`, "admitted", slotAt(number)]);
    expect(partOf(admission, 1)).toMatchObject({ n: number, nbf: Math.floor(opensAt / 1_000) });
  }
}

describe("admissions for places given beforehand", () => {
  it("has a line for everybody as their slot is committed, in a file that only its owner reads", async () => {
    const { world, out, run, from } = await start(2_500);
    world.mint.line.drip = dripping({ from, everyMs: 20, count: 2_500 });
    const ran = await run(["--json"]);
    expect(ran.json).toEqual({
      ...{ event: "spring", out, places: 2_500, before: 0, cut: 0 },
      ...{ admitted: 2_500, missed: 0, ended: 0, waiting: 0 },
    });
    expect(ran.code).toBe(0);
    expect(ran.err.replaceAll(/\s+/g, " ")).toContain("IS SECRET: with the visitors' secrets");
    expect(ran.err).toMatch(/ [\d,]+ of 2,500, slots for [\d,]+, the last within \d+ s/);
    expectWhole(out, 2_500, (n) => from + (n - 1) * 20);
    expect(linesOf(out)).toHaveLength(2_500);
    expect(world.mint.line.claims).toBe(2_500);
    expect(statSync(out).mode & 0o777).toBe(0o600);
    // It stayed until no hold could cut the last slot any more, and asked once a second.
    expect(world.clock.now()).toBeGreaterThanOrEqual(from + 2_499 * 20);
    const asked = world.mint.asked.filter(({ url }) => url.endsWith("/admissions"));
    expect(asked.length).toBeLessThan(60);
  });

  it("reads and writes CSV as well", async () => {
    const { world, out, run, from } = await start(3, "csv");
    world.mint.line.drip = dripping({ from, everyMs: 20, count: 3 });
    expect((await run()).code).toBe(0);
    expect(readFileSync(out, "utf8")).toMatch(
      /^id,event,number,state,opensAt,closesAt,admission\nfan-0,spring,1,admitted,\d+,\d+,[\w.-]+\nfan-1,/,
    );
    expect((await run(["--json"])).json).toMatchObject({ before: 3, admitted: 3 });
  });

  it("law 1: a run that is cut anywhere, and its file torn anywhere, goes on to the same end", async () => {
    const random = runRandomness();
    for (let round = 0; round < 8; round += 1) {
      const count = random.integer({ min: 1, max: 1_500 });
      const { world, out, run, from } = await start(count);
      world.mint.line.drip = dripping({ from, everyMs: 10, count });
      const real = systemSecretFiles((path) => path);
      for (let cut = 0; cut < 3; cut += 1) {
        // As a kill leaves it: some part of what was being written is there.
        let left = random.integer({ min: 0, max: 5 });
        const secretFiles: typeof real = {
          ...real,
          append: (path, { at, text }) => {
            left -= 1;
            if (left >= 0) return real.append(path, { at, text });
            const torn = text.slice(0, random.integer({ min: 0, max: text.length }));
            real.append(path, { at, text: torn });
            throw new Error("killed");
          },
        };
        if ((await run([], { secretFiles })).code === 0) break;
      }
      expect((await run()).code).toBe(0);
      expectWhole(out, count, (n) => from + (n - 1) * 10);
      expect(linesOf(out)).toHaveLength(count);
      expect(world.mint.line.claims).toBe(count);
    }
  });

  it("writes a later line for whoever's slot a hold cut: the last one counts", async () => {
    const { world, out, run, from } = await start(20);
    const [since, until] = [from + 3_000, from + 10_000];
    const first = { base: 1, count: 20, from, until: from + 10_000 };
    // Numbers 1 … 7 opened by then; the others have their slots when the hold ends.
    const again = { base: 8, count: 13, from: until + 1_000, until: until + 14_000 };
    const common = { committed: 20, issued: 20, rate: 120 };
    world.mint.line.drip = (now) => {
      if (now < since) return { ...common, segments: [first] };
      if (now < until) return { ...common, segments: [first], state: "paused", heldSince: since };
      const segments = [{ ...first, cutAfter: since }, again];
      return { ...common, segments, cuts: [{ since, until }] };
    };
    const ran = await run(["--json"], { isTerminal: true });
    expect(ran.json).toMatchObject({ admitted: 20, cut: 13 });
    expect(ran.err).toContain("the sale is paused");
    expect(linesOf(out)).toHaveLength(33);
    expectWhole(out, 20, (n) => (n <= 7 ? from + (n - 1) * 500 : until + 1_000 + (n - 8) * 1_000));
    expect(world.mint.line.claims).toBe(33);
  });

  it("learns of a cut slot also when it was not there during the hold", async () => {
    const { world, out, run, from } = await start(4);
    const segment = { base: 1, count: 4, from: from + 5_000, until: from + 9_000 };
    world.mint.line.drip = () => ({ segments: [segment], committed: 4 });
    expect((await run(["--no-wait"])).code).toBe(0);
    const [since, until] = [from + 1_000, from + 20_000];
    const again = { base: 1, count: 4, from: from + 21_000, until: from + 25_000 };
    world.clock.advance(20_000);
    world.mint.line.drip = () => ({
      ...{ segments: [{ ...segment, cutAfter: since }, again], committed: 4 },
      cuts: [{ since, until }],
    });
    expect((await run(["--json"])).json).toMatchObject({ before: 4, cut: 4, admitted: 4 });
    expectWhole(out, 4, (n) => from + 20_000 + n * 1_000);
  });

  it("--no-wait takes what is committed, and its exit code says that there is more", async () => {
    const { world, out, run, from } = await start(1_100);
    world.mint.line.drip = dripping({ from, everyMs: 100, count: 1_100 });
    const ran = await run(["--no-wait", "--json"]);
    expect(ran.code).toBe(4);
    expect(ran.json).toMatchObject({ places: 1_100, admitted: 100, waiting: 1_000 });
    expect(ran.json.error).toContain("1,000 of 1,100 places have no slot yet");
    expect((await run()).code).toBe(0);
    expect(linesOf(out)).toHaveLength(1_100);
  });

  it("waits for an event that is not open yet, and says until when", async () => {
    const { world, out, run, from } = await start(5);
    const startsAt = from + 600_000;
    const open = dripping({ from: startsAt, everyMs: 1_000, count: 5 }, { startsAt });
    world.mint.line.drip = (now) =>
      now < startsAt ? { ...open(now), state: "scheduled" } : open(now);
    const ran = await run();
    expect(ran.code).toBe(0);
    expect(ran.err).toMatch(/opens \d\d:\d\d:\d\d \(in 10 min\)/);
    expectWhole(out, 5, (n) => startsAt + (n - 1) * 1_000);
  });

  it("says that people are there only where it was told so", async () => {
    const { world, out, run, from } = await start(5);
    const presence = "confirm" as const;
    world.mint.line.drip = dripping({ from, everyMs: 10, count: 5 }, { presence });
    const ran = await run();
    expect([ran.code, linesOf(out), world.mint.line.claims]).toEqual([1, [], 0]);
    expect(ran.err).toContain("--confirmed says so of everybody on the list");
    expect((await run(["--confirmed"])).code).toBe(0);
    expectWhole(out, 5, (n) => from + (n - 1) * 10);
  });

  it("says who came too late, and for whom the event ended first", async () => {
    const { world, out, run, from } = await start(10);
    world.mint.line.drip = dripping({ from, everyMs: 10_000, count: 10 });
    world.clock.advance(75_000);
    world.mint.events.set("spring", { ...EVENT, endsAt: from + 79_500 } as never);
    const ran = await run();
    expect(ran.code).toBe(0);
    expect(ran.out).toContain("2 people missed the claim window.");
    expect(ran.out).toContain("For 2 people the event ended first.");
    const states = [...lastOf(out)].sort(([a], [b]) => a - b).map(([, { state }]) => state);
    expect(states).toEqual([
      ...["missed", "missed", "admitted", "admitted", "admitted"],
      ...["admitted", "admitted", "admitted", "ended", "ended"],
    ]);
    expect((await run(["--json"])).json).toMatchObject({ before: 6, missed: 2, ended: 2 });
    expect(linesOf(out)).toHaveLength(10);
  });

  it("waits for a mint that fails over, and gives up after two minutes where the same command goes on", async () => {
    const { world, out, run, from } = await start(2_000);
    world.mint.line.drip = dripping({ from, everyMs: 1, count: 2_000 });
    let asked = 0;
    const isAway = (url: string): boolean => url.endsWith("/admissions") && (asked += 1) % 2 === 1;
    world.mint.broken = ({ url }) => (isAway(url) ? "away" : undefined);
    expect((await run()).code).toBe(0);
    expectWhole(out, 2_000, (n) => from + n - 1);
    rmSync(out);
    world.mint.broken = ({ url }) => (url.endsWith("/admissions") ? "away" : undefined);
    const ran = await run();
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("The same command goes on where this one was.");
  });

  it("stops at Ctrl-C with what it has, and goes on later", async () => {
    const { world, out, run, from } = await start(300);
    world.mint.line.drip = dripping({ from, everyMs: 100, count: 300 });
    const ran = await run([], { interrupt: (waits) => waits > 4 });
    expect(ran.code).toBe(130);
    expect(ran.err).toMatch(/Interrupted: 1\d\d of 300 admissions written\./);
    expect((await run()).code).toBe(0);
    expectWhole(out, 300, (n) => from + (n - 1) * 100);
  });

  it("takes the hash of a visitor from the ticket where the secret is the shop's", async () => {
    const { world, out, run, places, from } = await start(1);
    const sub = hashVisitor("y".repeat(43));
    world.mint.premints.set("mine", { first: 1, subs: sub });
    const ticket = `h.${Buffer.from(JSON.stringify({ sub })).toString("base64url")}.s`;
    const place = { id: "fan-0", event: "spring", number: 1, ticket, batch: "mine" };
    writeFileSync(places, `${JSON.stringify(place)}\n`);
    world.mint.line.drip = dripping({ from, everyMs: 1, count: 1 });
    expect((await run()).code).toBe(0);
    expect(partOf(linesOf(out)[0]?.admission ?? "", 1)).toMatchObject({ sub, n: 1 });
  });

  it("refuses places that are not as premint wrote them, with every bad line, and asks for nothing", async () => {
    const { world, places, run } = await start(5);
    const lines = readFileSync(places, "utf8").trimEnd().split("\n");
    const other = (lines[4] ?? "").replace("spring", "summer");
    const bad = [lines[0], lines[2], "no JSON", other].join("\n");
    writeFileSync(places, `${bad}\n`);
    world.mint.asked.length = 0;
    const ran = await run();
    expect(ran.code).toBe(1);
    for (const line of [
      "has 4 mistakes, and nothing was done:",
      "line 2: not the next of its batch: a line is missing, or was moved",
      "line 3: no place as premint writes it (id, event, number, ticket, batch)",
      "line 4: of another event than the first",
    ])
      expect(ran.err).toContain(line);
    truncateSync(places);
    expect((await run()).err).toContain("there is nobody in it");
    rmSync(places);
    expect((await run()).err).toContain("cannot be read");
    expect(world.mint.asked).toEqual([]);
  });

  it("writes over no file of anything else, and begins anew where only its first line was torn", async () => {
    const { world, out, run, places, from } = await start(5);
    world.mint.line.drip = dripping({ from, everyMs: 1, count: 5 });
    const list = readFileSync(places, "utf8");
    const [line = ""] = list.split("\n");
    for (const text of ["something", "something\n", list, line, '{"id":"somebody"}']) {
      writeFileSync(out, text);
      const ran = await run();
      expect([ran.code, readFileSync(out, "utf8")]).toEqual([1, text]);
      expect(ran.err).toContain("is there already, and not of these places");
    }
    writeFileSync(out, '{"id":"fa');
    expect((await run()).code).toBe(0);
    expectWhole(out, 5, (n) => from + n - 1);
    const { out: mine, run: again } = await start(6);
    writeFileSync(mine, readFileSync(out, "utf8").replace("fan-0", "fan-9"));
    expect((await again()).err).toContain("not of these places");
  });
});

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashVisitor } from "@vestibule/token/visitor";
import { runRandomness } from "@vestibule/testkit/run-seed";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemSecretFiles } from "../src/secret-files.system.ts";
import { type Run, World } from "./support/fake-platform.ts";

const EVENT = {
  ...{ event: "spring", title: "Spring", hosts: ["tickets.example"], lifetimeSeconds: 600 },
  endsAt: 4_102_444_800_000,
};
const COMMAND = ["premint", "--event", "spring", "--in", "people.csv", "--out"];
const list = (count: number): string =>
  `id,seat\n${Array.from({ length: count }, (_, index) => `fan-${index},x`).join("\n")}\n`;

let folder: string;
let names = 0;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), "vestibule-premint-"))));
afterAll(() => rmSync(folder, { recursive: true }));

async function start(people: string, more: Run = {}) {
  const world = await World.start();
  world.mint.events.set("spring", { ...EVENT, version: 1 } as never);
  const out = join(folder, `places-${(names += 1)}.jsonl`);
  const run = (given: Run = {}, to = out) =>
    world.run([...COMMAND, to], { files: { "people.csv": people }, ...more, ...given });
  return { world, out, run };
}

interface Line {
  readonly id: string;
  readonly number: number;
  readonly visitor: string;
  readonly ticket: string;
}
const linesOf = (path: string): Line[] =>
  readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);

/** Everybody of the list has one place, and no two have the same. */
function expectWhole(path: string, count: number): void {
  const lines = linesOf(path);
  expect(lines.map(({ id }) => id)).toEqual(Array.from({ length: count }, (_, at) => `fan-${at}`));
  expect(new Set(lines.map(({ number }) => number)).size).toBe(count);
  for (const { number, visitor, ticket } of lines)
    expect(ticket).toBe(`ticket.${number}.${hashVisitor(visitor)}`);
}

describe("places given beforehand", () => {
  it("has one line for everybody, in the order of the list, in a file that only its owner reads", async () => {
    const { out, run } = await start(list(2_500));
    const ran = await run();
    expect(ran.code).toBe(0);
    expect(ran.out).toContain("2,500 places of spring in");
    expect(ran.err.replaceAll(/\s+/g, " ")).toMatch(/IS SECRET: it holds each visitor's secret/);
    expect(ran.err).toContain('The column "seat" means nothing here.');
    expectWhole(out, 2_500);
    expect(linesOf(out).map(({ number }) => number)).toEqual(
      Array.from({ length: 2_500 }, (_, index) => index + 1),
    );
    expect(statSync(out).mode & 0o777).toBe(0o600);
    expect(() => statSync(`${out}.run`)).toThrow("ENOENT");
  });

  it("writes CSV that a reader of CSV takes, whatever is in an id", async () => {
    const { out, run } = await start('id\r\n"Doe, ""J"" ü"\r\nplain\r\n');
    const csv = out.replace("jsonl", "csv");
    expect((await run({}, csv)).code).toBe(0);
    expect(readFileSync(csv, "utf8")).toMatch(
      /^id,event,number,visitor,ticket,batch\n"Doe, ""J"" ü",spring,1,[\w-]{43},ticket\.1\.[\w-]{43},[\w-]{43}\nplain,spring,2,/,
    );
  });

  it("asks with the hashes that the list has, and then writes no secret and no warning", async () => {
    const sub = hashVisitor("x".repeat(43));
    const { out, run, world } = await start(`sub,id\n${sub},fan-0\n`);
    const ran = await run();
    expect(ran.code).toBe(0);
    expect(ran.err).not.toContain("SECRET");
    expect(linesOf(out)).toEqual([
      {
        ...{ id: "fan-0", event: "spring", number: 1, ticket: `ticket.1.${sub}` },
        batch: [...world.mint.premints.keys()][0],
      },
    ]);
    expect([...world.mint.premints.values()]).toEqual([{ first: 1, subs: sub }]);
  });

  it("refuses a bad list with every bad line, and asks the mint for nothing", async () => {
    const sub = hashVisitor("x".repeat(43));
    const { run, world, out } = await start(
      `id,sub\na,${sub}\n,${"A".repeat(42)}\na,${sub}\nb\n"two\nlines",${hashVisitor("y".repeat(43))}\n${"c".repeat(201)},x,y\n"open,x\n`,
    );
    const ran = await run();
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("people.csv has 8 mistakes, and nothing was done:");
    for (const line of [
      "line 3: no id",
      "line 3: the sub is no SHA-256 in base64url (43 characters)",
      "line 4: the same id as in line 2",
      "line 4: the same sub as in line 2",
      "line 5: 1 field, and the first line has 2",
      "line 6: the id is not one line of text",
      "line 8: 3 fields, and the first line has 2",
      "line 9: a quote is never closed",
    ])
      expect(ran.err).toContain(line);
    expect(world.mint.asked).toEqual([]);
    expect(() => statSync(out)).toThrow("ENOENT");
  });

  it.each([
    ["", 'line 1: the first line names the columns, and one of them is "id"'],
    ["id\n", "there is nobody in it"],
    ["id,id\na,b\n", 'line 1: the column "id" is there twice'],
    [`id\n${"a\n".repeat(50)}`, "and 29 more"],
    ['id\nplain\n"quoted"er\n', "line 3: text behind a closing quote"],
    ['"id" \nplain\n', "line 1: text behind a closing quote"],
  ])("refuses %j", async (people, what) => {
    const { run, world } = await start(people);
    const ran = await run();
    expect([ran.code, world.mint.asked.length]).toEqual([1, 0]);
    expect(ran.err).toContain(what);
  });

  it("law 1: a run that is cut anywhere, and its files torn anywhere, goes on to the same end", async () => {
    const random = runRandomness();
    for (let round = 0; round < 12; round += 1) {
      const count = random.integer({ min: 1, max: 4_000 });
      const { world, out, run } = await start(list(count));
      const real = systemSecretFiles((path) => path);
      for (let cut = 0; cut < 3; cut += 1) {
        // As a kill leaves it: some part of what was being written is there.
        let left = random.integer({ min: 0, max: 6 });
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
        const ran = await run({ secretFiles });
        if (ran.code === 0) break;
      }
      const known = world.mint.premints.size;
      const last = await run();
      // Done already: then nothing is written over.
      if (last.code !== 0) expect(last.err).toContain("is there already");
      else expect(world.mint.premints.size).toBeGreaterThanOrEqual(known);
      expectWhole(out, count);
      expect(world.mint.premints.size).toBe(Math.ceil(count / 1_000));
    }
  });

  it("waits for a mint that is away, and gives up after two minutes where the same command goes on", async () => {
    const { world, out, run } = await start(list(1_500));
    let asked = 0;
    world.mint.broken = ({ url }) =>
      url.includes("/premints/") && (asked += 1) > 1 ? "away" : undefined;
    const ran = await run();
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("The same command goes on where this one was.");
    world.mint.broken = () => undefined;
    const again = await run();
    expect(again.out).toContain("1,000 of them from before");
    expectWhole(out, 1_500);
  });

  it("gives numbers in the order of the list, also when a mint was away for one batch of it", async () => {
    const { world, out, run } = await start(list(5_000));
    let asked = 0;
    world.mint.broken = ({ url }) =>
      url.includes("/premints/") && [2, 5].includes((asked += 1)) ? "away" : undefined;
    expect((await run()).code).toBe(0);
    expectWhole(out, 5_000);
    const numbers = linesOf(out).map(({ number }) => number);
    expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
  });

  it("stops at Ctrl-C with what it has, and goes on later", async () => {
    const { world, out, run } = await start(list(3_000));
    let asked = 0;
    world.mint.broken = ({ url }) =>
      url.includes("/premints/") && (asked += 1) > 2 ? "away" : undefined;
    const ran = await run({ interrupt: () => true });
    expect(ran.code).toBe(130);
    expect(ran.err).toMatch(
      /Interrupted: [12],000 of 3,000 places written\. The same command goes on\./,
    );
    world.mint.broken = () => undefined;
    expect((await run()).code).toBe(0);
    expectWhole(out, 3_000);
  });

  it("writes over nobody's places, and mixes no two runs", async () => {
    const { out, run, world } = await start(list(10));
    expect((await run()).code).toBe(0);
    const before = readFileSync(out, "utf8");
    const again = await run();
    expect([again.code, readFileSync(out, "utf8")]).toEqual([1, before]);
    expect(again.err).toContain("is there already, and not of an unfinished run");
    const other = join(folder, "other.jsonl");
    world.mint.broken = ({ url }) => (url.includes("/premints/") ? "away" : undefined);
    expect((await run({}, other)).code).toBe(1);
    world.mint.broken = () => undefined;
    const mixed = await run({ files: { "people.csv": list(11) } }, other);
    expect([mixed.code, world.mint.premints.size]).toEqual([1, 1]);
    expect(mixed.err).toContain("of an unfinished run for another event or another list");
    expect((await run({}, other)).code).toBe(0);
  });

  it("goes on at no other mint, whose event only has the same name", async () => {
    const { out, run, world } = await start(list(1_500));
    let asked = 0;
    world.mint.broken = ({ url }) =>
      url.includes("/premints/") && (asked += 1) > 1 ? "away" : undefined;
    await run();
    world.mint.broken = () => undefined;
    const event = world.mint.events.get("spring");
    world.mint.events.set("spring", { ...event, createdAt: 2 } as never);
    expect((await run()).err).toContain("or at another mint");
    expect(world.mint.premints.size).toBe(1);
    world.mint.events.set("spring", event!);
    expect((await run()).code).toBe(0);
    expectWhole(out, 1_500);
  });

  it("begins anew where only its own file was torn, and leaves a file alone that is of nobody's run", async () => {
    const { out, run } = await start(list(10));
    writeFileSync(`${out}.run`, '{"run":1,"ev');
    expect((await run()).code).toBe(0);
    expectWhole(out, 10);
    const { out: other, run: again } = await start(list(10));
    writeFileSync(other, "something\n");
    writeFileSync(`${other}.run`, "else");
    expect((await again()).code).toBe(1);
    expect(readFileSync(other, "utf8")).toBe("something\n");
    truncateSync(`${other}.run`);
    expect((await again()).code).toBe(1);
  });

  it("says which file the machine refuses, and why", async () => {
    const { out, run, world } = await start(list(2));
    const away = join(folder, "nowhere", "places.jsonl");
    expect((await run({}, away)).err).toContain(`${away}.run cannot be written: ENOENT.`);
    symlinkSync(join(folder, "nobody"), `${out}.run`);
    expect((await run()).err).toContain(`${out}.run cannot be written: EEXIST.`);
    rmSync(`${out}.run`);
    mkdirSync(out);
    expect((await run()).err).toContain(`${out} cannot be read: EISDIR.`);
    expect([world.mint.premints.size, existsSync(join(folder, "nobody"))]).toEqual([0, false]);
  });

  it.each([
    [["--event", "Spring", "--in", "people.csv", "--out", "p.csv"], "event: the name of an event"],
    [["--event", "spring", "--in", "people.csv", "--out", "p.txt"], "out: a file that ends in"],
    [["--event", "spring", "--out", "p.csv"], "--in"],
  ])("says which option is wrong: %j", async (args, what) => {
    const { world } = await start("");
    const ran = await world.run(["premint", ...args]);
    expect(ran.code).toBe(2);
    expect(ran.err).toContain(what);
  });

  it("refuses an event that is not there, and one that has ended", async () => {
    const { world, run, out } = await start(list(2));
    world.mint.events.set("spring", { ...EVENT, endsAt: 1, version: 1 } as never);
    expect((await run()).err).toContain("spring has ended");
    world.mint.events.clear();
    expect((await run()).err).toContain("There is no event spring");
    expect(() => statSync(`${out}.run`)).toThrow("ENOENT");
  });
});

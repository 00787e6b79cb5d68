import type { EdgeRow, EdgesView } from "@vestibule/contracts/edges-api";
import { describe, expect, it } from "vitest";
import { span } from "../src/terminal/words.ts";
import { type Run, World } from "./support/fake-platform.ts";

// oxlint-disable-next-line no-control-regex -- what must not be there
const ESCAPES = /\u001b/;

/** Kids are random: the same ones for the same places. */
function named(text: string): string {
  const names = new Map<string, string>();
  return text.replaceAll(
    /^( {2})(?!affected)([\w-]{8})(?= {2})/gm,
    (_, margin: string, kid: string) => {
      if (!names.has(kid)) names.set(kid, `kid-${names.size + 1}---`);
      return margin + names.get(kid);
    },
  );
}

async function shown(world: World, args: readonly string[], how: Run = {}): Promise<string> {
  const { out } = await world.run(args, how);
  const width = how.columns ?? 80;
  for (const line of out.split("\n")) expect(line.slice(width)).toBe("");
  return named(out);
}

/** One key retires, one signs, one waits. */
async function busy(): Promise<World> {
  const world = await World.start();
  world.clock.advance(600_000);
  await world.run(["keys", "rotate", "--yes"]);
  world.clock.advance(90_000);
  return world;
}

describe("keys list", () => {
  it("fits 80 columns and tells of each key its state, since when, and the next step", async () => {
    const world = await busy();
    world.mint.frozenBy = ["spring-sale"];
    expect(await shown(world, ["keys", "list"])).toMatchInlineSnapshot(`
      "Keys of http://localhost:8788
      key set 1767226200000, 00:11:30 UTC
      The schedule is held back by: spring-sale

      line  signs tickets and statements
        kid-1---  signing  00:00:00 (11 min 30 s ago)  -
        kid-2---  staged   00:00:00 (11 min 30 s ago)  may sign now

      admission  signs admissions
        kid-3---  retiring  00:10:00 (1 min 30 s ago)  ends in 11 min 40 s
        kid-4---  signing   00:10:00 (1 min 30 s ago)  -
        kid-5---  staged    00:10:00 (1 min 30 s ago)  may sign in 2 min 55 s

                  2025-12-31 23:59:46             now                         00:23:51
        kid-1---  █████████████████████████████████│──────────────────────────────────
        kid-2---  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░│──────────────────────────────────
        kid-3---  ────────────────────────────▒▒▒▒▒│▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒
        kid-4---  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░█████│──────────────────────────────────
        kid-5---                              ░░░░░│░░░░░░░◆──────────────────────────

        ░ staged   █ signs   ▒ retiring
        ─ before, or as things are   ◆ safe from   │ now
      "
    `);
  });

  it("is ASCII where there is nothing else, and has no colour but on a terminal", async () => {
    const world = await busy();
    const plain = await shown(world, ["keys", "list"], { unicode: false, columns: 72 });
    expect(plain).toMatch(/^[\n\x20-\x7e]+$/);
    expect(plain).toMatchInlineSnapshot(`
      "Keys of http://localhost:8788
      key set 1767226200000, 00:11:30 UTC

      line  signs tickets and statements
        kid-1---  signing  00:00:00 (11 min 30 s ago)  -
        kid-2---  staged   00:00:00 (11 min 30 s ago)  may sign now

      admission  signs admissions
        kid-3---  retiring  00:10:00 (1 min 30 s ago)  ends in 11 min 40 s
        kid-4---  signing   00:10:00 (1 min 30 s ago)  -
        kid-5---  staged    00:10:00 (1 min 30 s ago)  may sign in 2 min 55 s

                  2025-12-31 23:59:46         now                     00:23:51
        kid-1---  #############################|------------------------------
        kid-2---  .............................|------------------------------
        kid-3---  -------------------------====|=============================
        kid-4---  .........................####|------------------------------
        kid-5---                           ....|......^-----------------------

        . staged   # signs   = retiring
        - before, or as things are   ^ safe from   | now
      "
    `);
    const { out } = await world.run(["keys", "list"], { isTerminal: true, color: true });
    expect(out).toMatch(ESCAPES);
    for (const how of [{ isTerminal: true }, {}])
      expect((await world.run(["keys", "list"], how)).out).not.toMatch(ESCAPES);
  });

  it("leaves old keys away after a few, and says how many", async () => {
    const world = await World.start();
    for (let turn = 0; turn < 5; turn += 1)
      await world.run(["keys", "revoke", world.mint.key("line", "staged"), "--yes"]);
    const text = await shown(world, ["keys", "list"]);
    expect(text.match(/revoked/g)).toHaveLength(3);
    expect(text).toContain("and 2 keys that are over");
    expect(text).toMatch(/revoked .* for good$/m);
  });
});

describe("a step", () => {
  it("is shown before it is done", async () => {
    const world = await busy();
    const kid = world.mint.key("admission", "signing");
    const text = await shown(world, ["keys", "revoke", kid]);
    expect(text.replaceAll(kid, "KID").replace(/^Revoke \S+/, "Revoke kid-"))
      .toMatchInlineSnapshot(`
        "Revoke kid-  KID
          kid-1---        signing -> revoked: nothing that it signed is good
          kid-2---        staged -> signing, at once
          affected        whoever holds an admission that it signed: claims again, and
                          keeps the slot. Refused everywhere within 20 s.
          safe            at any time, in any state
          run again       safe: the second time it changes nothing
        "
      `);
  });
});

describe("edges", () => {
  const now = 1_767_225_600_000;
  const row = (more: Partial<EdgeRow>): EdgeRow => ({
    ...{ location: "fra", sender: "a1", state: "good", skewSeconds: 5, reportedAt: now - 12_000 },
    ...more,
  });
  const view = (edges: EdgeRow[], more: Partial<EdgesView> = {}): EdgesView => ({
    now,
    mint: { state: "good", estimate: { offsetMs: 0, uncertaintyMs: 1 } },
    edges,
    turnedAway: 0,
    ...more,
  });

  it("is a table that fits 80 columns", async () => {
    const world = await World.start();
    const { seq } = world.mint;
    world.mint.edges = view(
      [
        row({ estimate: { offsetMs: 3, uncertaintyMs: 12 }, keysSeq: seq }),
        row({
          location: "iad",
          state: "warn",
          estimate: { offsetMs: -3_100, uncertaintyMs: 40 },
          keysSeq: seq - 1,
        }),
        row({ location: "\u001b[2Jsyd", state: "unknown", reportedAt: now - 300_000 }),
      ],
      { turnedAway: 7 },
    );
    expect(await shown(world, ["edges"])).toMatchInlineSnapshot(`
      "Locations of http://localhost:8788
      the mint's clock against its PostgreSQL's: good, +0 ms ± 1 ms

      LOCATION  CLOCK    OFF BY          MAY BE  KEY SET    REPORTED
      fra       good     +3 ms ± 12 ms   ± 5 s   current    12 s ago
      iad       warn     -3.1 s ± 40 ms  ± 5 s   behind     12 s ago
      [2Jsyd    unknown  not known       ± 5 s   not known  5 min ago

      7 reports of new senders found no room.
      "
    `);
    expect((await world.run(["edges", "--json"])).json).toEqual(world.mint.edges);
  });

  it("shows what passed without a place, by rule, where locations have told", async () => {
    const world = await World.start();
    const passes = [
      { event: "spring", rule: 0, count: 1_250 },
      { event: "spring", rule: 2, count: 3 },
    ];
    world.mint.edges = view([row({ passes }), row({ location: "iad" })]);
    const out = await shown(world, ["edges"]);
    expect(out.split("\n").slice(-4).join("\n")).toMatchInlineSnapshot(`
      "LOCATION  EVENT   RULE  PASSED WITHOUT A PLACE
      fra       spring  0     1,250
      fra       spring  2     3
      "
    `);
  });

  it("ends with exit code 1 when any clock is wrong, the mint's own as well", async () => {
    const world = await World.start();
    const wrong = { state: "wrong", estimate: { offsetMs: 600_000, uncertaintyMs: 20 } } as const;
    world.mint.edges = view([row(wrong)]);
    expect((await world.run(["edges"])).code).toBe(1);
    world.mint.edges = view([row({})], { mint: wrong });
    expect((await world.run(["edges", "--json"])).code).toBe(1);
    world.mint.edges = view([row({ state: "warn" }), row({ state: "unknown" })]);
    expect((await world.run(["edges"])).code).toBe(0);
  });

  it("says so when nobody has reported, and when the mint is of a release that takes no reports", async () => {
    const world = await World.start();
    world.mint.edges = view([]);
    expect(await shown(world, ["edges"])).toContain("No location has reported");
    world.mint.edges = undefined;
    const old = await world.run(["edges"]);
    expect([old.code, old.err]).toEqual([1, expect.stringMatching(/older release/)]);
  });
});

describe("a drill's report", () => {
  it("fits 80 columns", async () => {
    const world = await World.start();
    const text = await shown(world, ["keys", "drill", "--yes"]);
    expect(text).toContain("The drill went well");
    expect(text).toMatch(/^ {2}refused +0$/m);
    expect(text).toMatch(/verifier-5 \(cache 195 s old, clock \+4 s\) .* -$/m);
  });
});

describe("public keys", () => {
  it("are the mint's set as a JWKS, without a token", async () => {
    const world = await World.start();
    const environment = { VESTIBULE_MINT_URL: "http://localhost:8788" };
    const all = await world.run(["keys", "export-public"], { environment });
    expect(all.json.keys).toHaveLength(4);
    expect(all.json.seq).toBe(world.mint.seq);
    const line = await world.run(["keys", "export-public", "--use", "line"], { environment });
    expect(line.json.keys.map((key: { vst_use: string }) => key.vst_use)).toEqual(["line", "line"]);
  });

  it("are PEM that Node reads, each under its kid, use and state", async () => {
    const world = await World.start();
    const { createPublicKey } = await import("node:crypto");
    const { out } = await world.run(["keys", "export-public", "--format", "pem"]);
    const blocks = out.split(/^(?=# )/m);
    expect(blocks).toHaveLength(4);
    for (const block of blocks) {
      const [, kid, use, state] = /^# kid (\S+), use (\w+), (\w+)\n/.exec(block) ?? [];
      expect(kid).toBe(world.mint.key(use as "line", state as "staged"));
      const key = createPublicKey(block.slice(block.indexOf("-----")));
      expect(key.asymmetricKeyType).toBe("ed25519");
    }
  });

  it("of a set that is refused are not handed on", async () => {
    const world = await World.start();
    world.mint.broken = ({ url }) => (url.includes("jwks") ? [200, { keys: [] }] : undefined);
    const ran = await world.run(["keys", "export-public"]);
    expect([ran.code, ran.out]).toEqual([1, ""]);
  });
});

it.each([
  [0, "0 s"],
  [59_499, "59 s"],
  [59_500, "1 min"],
  [265_000, "4 min 25 s"],
  [3_600_000, "1 h"],
  [3_660_000, "1 h 1 min"],
  [90_000_000, "1 d 1 h"],
  [-5, "0 s"],
])("a span of %i ms is %s", (ms, text) => expect(span(ms)).toBe(text));

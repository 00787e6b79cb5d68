import { type EventSettings, eventSettingsSchema } from "@vestibule/contracts/event-settings";
import { describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { World } from "./support/fake-platform.ts";

const DAY_MS = 86_400_000;

/** One sale that ended 31 days ago, one that ended yesterday, and a rehearsal. */
async function start(): Promise<World> {
  const world = await World.start();
  const now = world.clock.now();
  const add = (event: string, change: Partial<EventSettings>): void => {
    const settings = z.parse(eventSettingsSchema, {
      ...{ event, title: event, ratePerMinute: 60, hosts: ["shop.example"], paths: [`/${event}`] },
      ...{ homePath: `/${event}`, endsAt: now, ...change },
    });
    world.mint.events.set(event, { ...settings, version: 1 });
  };
  add("old", { endsAt: now - 31 * DAY_MS });
  add("recent", { endsAt: now - DAY_MS });
  add("drill", { endsAt: now - 90 * DAY_MS, rehearsal: true });
  return world;
}

const posts = (world: World): string[] =>
  world.mint.asked.filter(({ method }) => method === "POST").map(({ url }) => url);

describe("events archive", () => {
  it("says which sales are over for long, asks, and goes on until all their rows have gone", async () => {
    const world = await start();
    const ran = await world.run(["events", "archive"], { answer: "y" });
    expect(ran.code).toBe(0);
    expect(ran.out).toBe(
      [
        "Archive for good, with all rows but their figures and the audit log: old",
        "old is archived: 200,017 rows deleted; 900 numbers given, 800 turns taken up, 100 not.",
        "",
      ].join("\n"),
    );
    expect(posts(world)).toHaveLength(2);
    expect([...world.mint.events.keys()]).toEqual(["recent", "drill"]);
  });

  it("archives nothing without a yes, and nothing when nothing is due", async () => {
    const world = await start();
    expect((await world.run(["events", "archive"], { answer: "n" })).code).toBe(3);
    expect((await world.run(["events", "archive"])).code).toBe(3);
    expect(posts(world)).toEqual([]);
    world.mint.events.delete("old");
    const ran = await world.run(["events", "archive", "--yes", "--json"]);
    expect([ran.code, ran.json]).toEqual([0, { archived: [] }]);
  });

  it("says from when a named one may be archived, and never archives a rehearsal", async () => {
    const world = await start();
    const early = await world.run(["events", "archive", "recent", "--yes"]);
    expect(early.code).toBe(4);
    expect(early.err).toMatch(/Not yet: recent may be archived from .* \(in 29 d\) on\./);
    const drill = await world.run(["events", "archive", "drill", "--yes"]);
    expect([drill.code, posts(world)]).toEqual([1, []]);
    expect(drill.err).toContain("drill is a rehearsal");
  });

  it("goes on with one that is named where an earlier run was cut off", async () => {
    const world = await start();
    let calls = 0;
    world.mint.broken = ({ method }) =>
      method === "POST" && (calls += 1) === 2 ? "away" : undefined;
    expect((await world.run(["events", "archive", "--yes"])).code).toBe(1);
    const ran = await world.run(["events", "archive", "old", "--yes", "--json"]);
    expect(ran.code).toBe(0);
    expect(ran.json).toMatchObject({ archived: [{ event: "old", deleted: 17, done: true }] });
    const gone = await world.run(["events", "archive", "nowhere", "--yes"]);
    expect(gone.code).toBe(1);
  });
});

import { eventSettingsSchema } from "@vestibule/contracts/event-settings";
import { describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { World } from "./support/fake-platform.ts";

/** A sale that goes on, of which 400 wait. */
async function sale(): Promise<World> {
  const world = await World.start();
  const settings = z.parse(eventSettingsSchema, {
    ...{ event: "spring", title: "Spring", ratePerMinute: 60, hosts: ["shop.example"] },
    ...{ paths: ["/spring*"], homePath: "/spring", endsAt: world.clock.now() + 14_400_000 },
  });
  world.mint.events.set("spring", { ...settings, version: 3 });
  return world;
}

const posts = (world: World) => world.mint.asked.filter(({ method }) => method === "POST");

describe("events hold", () => {
  it("holds at once, without a question, and says what that means", async () => {
    const world = await sale();
    const { code, out } = await world.run(["events", "hold", "spring"]);
    expect(code).toBe(0);
    expect(out).toMatchInlineSnapshot(`
      "spring is held: nobody new enters; whoever is in goes on. vestibule events
      resume spring lets it go on. Everybody keeps their place.
      "
    `);
    expect(posts(world)).toMatchObject([{ body: {} }]);
    expect((await world.run(["events", "show", "spring"])).out).toContain("spring  paused");
  });

  it("holds purchases too, with words for everybody who waits; a second one loosens nothing", async () => {
    const world = await sale();
    const words = ["--all", "--reason", "Back in ten minutes"];
    const { out } = await world.run(["events", "hold", "spring", ...words]);
    expect(out).toMatchInlineSnapshot(`
      "spring is held: nobody new enters, and nothing is bought. vestibule events
      resume spring lets it go on. Everybody keeps their place, and reads: Back in ten
      minutes
      "
    `);
    const again = await world.run(["events", "hold", "spring", "--json"]);
    expect(again.json).toEqual({
      ...{ changed: true, event: "spring", version: 5, state: "paused" },
      ...{ heldSince: world.clock.now(), heldScope: "all", heldReason: "Back in ten minutes" },
    });
    const silent = await world.run(["events", "hold", "spring", "--reason", "", "--json"]);
    expect(silent.json.heldReason).toBe("");
    expect(posts(world).map(({ body }) => body)).toEqual([
      { scope: "all", reason: "Back in ten minutes" },
      {},
      { reason: "" },
    ]);
  });

  it.each([["two\nlines"], ["turned \u202E round"], ["x".repeat(501)]])(
    "refuses the reason %j with exit code 2, and asks nobody",
    async (reason) => {
      const world = await sale();
      const { code, err } = await world.run(["events", "hold", "spring", "--reason", reason]);
      expect([code, err]).toEqual([2, expect.stringContaining("reason")]);
      expect(world.mint.asked).toEqual([]);
    },
  );
});

describe("events resume", () => {
  it("lets the sale go on, and does nothing the second time", async () => {
    const world = await sale();
    await world.run(["events", "hold", "spring"]);
    world.clock.advance(5_000);
    const { code, out } = await world.run(["events", "resume", "spring"]);
    expect([code, out]).toEqual([
      0,
      "spring goes on: open. Those whose turn was cut come first.\n",
    ]);
    const again = await world.run(["events", "resume", "spring", "--json"]);
    expect([again.code, again.json]).toEqual([
      0,
      { changed: false, event: "spring", version: 5, state: "open" },
    ]);
    expect(posts(world)).toHaveLength(2);
  });

  it("waits where the hold is younger than its second", async () => {
    const world = await sale();
    await world.run(["events", "hold", "spring"]);
    const { code, json } = await world.run(["events", "resume", "spring", "--json"]);
    expect([code, json]).toMatchObject([0, { changed: true, state: "open" }]);
    expect(posts(world)).toHaveLength(3);
  });

  it("gives up on a mint that refuses again and again", async () => {
    const world = await sale();
    await world.run(["events", "hold", "spring"]);
    const type = "urn:vestibule:problem:conflict";
    world.mint.broken = ({ url }) => (url.endsWith("/resume") ? [409, { type }] : undefined);
    const { code, err } = await world.run(["events", "resume", "spring"]);
    expect([code, err]).toEqual([1, expect.stringContaining("409 conflict")]);
    expect(posts(world)).toHaveLength(4);
  });
});

describe("events end", () => {
  it("says who still waits, asks, and ends what it has shown", async () => {
    const world = await sale();
    const { code, out } = await world.run(["events", "end", "spring"], { answer: "y" });
    expect(code).toBe(0);
    expect(out).toMatchInlineSnapshot(`
      "End spring  open
        for good        nobody joins, claims or is let in any more
        waiting         400 without a slot, 50 with one ahead: all go home
        turns           400 taken up so far
      spring is over.
      "
    `);
    expect(posts(world)).toMatchObject([{ headers: { "If-Match": '"3"' } }]);
    const again = await world.run(["events", "end", "spring", "--json"]);
    expect([again.code, again.json]).toEqual([
      0,
      { changed: false, event: "spring", version: 4, state: "ended" },
    ]);
    expect(posts(world)).toHaveLength(1);
  });

  it("ends nothing without a yes, and needs no question with --yes", async () => {
    const world = await sale();
    for (const how of [{ answer: "n" }, {}])
      expect((await world.run(["events", "end", "spring"], how)).code).toBe(3);
    expect(posts(world)).toEqual([]);
    const { code, json } = await world.run(["events", "end", "spring", "--yes", "--json"]);
    expect([code, json]).toEqual([
      0,
      { changed: true, event: "spring", version: 4, state: "ended" },
    ]);
  });

  it("ends nothing that somebody else has changed meanwhile", async () => {
    const world = await sale();
    world.mint.broken = ({ method }) => {
      if (method === "POST") world.mint.events.get("spring")!.version = 9;
      return undefined;
    };
    const { code, err, json } = await world.run(["events", "end", "spring", "--yes", "--json"]);
    expect([code, err]).toEqual([1, expect.stringContaining("somebody else changed the event")]);
    expect(json).toMatchObject({ code: "version-mismatch" });
    expect(world.mint.events.get("spring")?.endedAt).toBeUndefined();
  });
});

describe("what a mint refuses, or does not say", () => {
  it.each([["hold"], ["resume"], ["end"]])(
    "%s tells of an event that is not there",
    async (deed) => {
      const world = await sale();
      const { code, err } = await world.run(["events", deed, "autumn"], { answer: "y" });
      expect([code, err]).toEqual([1, "There is no event autumn at this mint.\n"]);
      expect((await world.run(["events", deed])).code).toBe(2);
    },
  );

  it("a sale that is over is not held", async () => {
    const world = await sale();
    await world.run(["events", "end", "spring", "--yes"]);
    const { code, err } = await world.run(["events", "hold", "spring"]);
    expect([code, err]).toEqual([1, "Nothing was changed: spring is over.\n"]);
  });

  it.each([["hold"], ["resume"], ["end"]])(
    "%s says so where it is not known whether it was done",
    async (deed) => {
      const world = await sale();
      if (deed === "resume") await world.run(["events", "hold", "spring"]);
      world.mint.broken = ({ method }) => (method === "POST" ? "away" : undefined);
      const { code, err } = await world.run(["events", deed, "spring"], { answer: "y" });
      expect([code, err]).toEqual([1, expect.stringContaining("vestibule events show spring")]);
    },
  );

  it("the deeds are proposed by name, and the events of the mint", async () => {
    const world = await sale();
    const proposals = async (...words: string[]): Promise<string[]> =>
      (await world.run(["__complete", "events", ...words])).out
        .split("\n")
        .map((line) => line.split("\t")[0] ?? "");
    for (const deed of ["hold", "resume", "end"]) {
      expect(await proposals(deed.slice(0, 2))).toContain(deed);
      expect(await proposals(deed, "sp")).toContain("spring");
    }
    expect(await proposals("hold", "--")).toEqual(expect.arrayContaining(["--all", "--reason"]));
  });
});

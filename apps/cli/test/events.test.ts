import { type EventSettings, eventSettingsSchema } from "@vestibule/contracts/event-settings";
import { describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { type Run, World } from "./support/fake-platform.ts";

const MINUTE = 60_000;
const perMinute = (first: number, then: number): number[] =>
  Array.from({ length: 30 }, (_, index) => (index === 0 ? first : then));

/** A sale of 60 a minute, of which 400 wait, at the virtual clock's beginning. */
async function sale(change: Partial<EventSettings> = {}): Promise<World> {
  const world = await World.start();
  const now = world.clock.now();
  const settings = z.parse(eventSettingsSchema, {
    ...{ event: "spring", title: "Spring", ratePerMinute: 60, endsAt: now + 240 * MINUTE },
    ...{ hosts: ["shop.example"], paths: ["/spring*"], homePath: "/spring", ...change },
  });
  world.mint.events.set("spring", { ...settings, version: 3 });
  world.mint.outlook = {
    state: "open",
    takesHoldAt: now + 50_000,
    waiting: 400,
    before: {
      perMinute: perMinute(60, 60),
      lastTurnAt: now + 7 * MINUTE,
      leftOut: 0,
      shoppersAtOnce: 600,
    },
    after: {
      perMinute: perMinute(100, 300),
      lastTurnAt: now + 2 * MINUTE,
      leftOut: 0,
      shoppersAtOnce: 3_000,
    },
  };
  return world;
}

const change = (world: World, args: readonly string[], how: Run = { answer: "y" }) =>
  world.run(["events", "change", "spring", ...args], how);
const patches = (world: World) => world.mint.asked.filter(({ method }) => method === "PATCH");

const RULES = [
  { paths: ["/spring/hook"], methods: ["POST"], services: ["payments", "refunds"] },
  { paths: ["/spring/logo.svg", "/spring/css/*"] },
  { paths: ["/spring/probe"], networks: ["192.0.2.0/24", "2001:db8::/32"], services: ["health"] },
];

describe("who needs no place", () => {
  it("is said in words, by rule", async () => {
    const { out } = await (await sale({ bypass: RULES })).run(["events", "show", "spring"]);
    const from = out.indexOf("  no place needed");
    expect(out.slice(from)).toMatchInlineSnapshot(`
      "  no place needed 0  POST of /spring/hook: whoever shows the token of payments
                        or refunds
                        1  every method of /spring/logo.svg, /spring/css/*: everybody
                        2  every method of /spring/probe: whoever shows the token of
                        health and comes from 192.0.2.0/24 or 2001:db8::/32
      "
    `);
    expect((await (await sale()).run(["events", "show", "spring"])).out).toContain(
      "no place needed nowhere",
    );
  });

  it("changes as a whole, after a preview of both in words", async () => {
    const world = await sale({ bypass: RULES.slice(0, 1) });
    const bypass = JSON.stringify(RULES.slice(1, 2));
    const { code, out } = await change(world, ["--bypass", bypass]);
    expect(code).toBe(0);
    expect(out).toMatchInlineSnapshot(`
      "Change spring  open
        bypass          1 rule: POST of /spring/hook: whoever shows the token of
                        payments or refunds -> 1 rule: every method of
                        /spring/logo.svg, /spring/css/*: everybody
      spring is changed.
      "
    `);
    expect(patches(world)).toMatchObject([{ body: { bypass: RULES.slice(1, 2) } }]);
    for (const bad of ["{}", "rules.json", "[", ""])
      expect((await change(world, ["--bypass", bad])).code, `the rules ${bad}`).toBe(2);
  });

  it("a token is printed alone, with what it opens beside it", async () => {
    const world = await sale({ bypass: RULES });
    const made = await world.run(["service-token", "spring", "payments", "--until", "+2h"]);
    expect([made.code, made.out]).toEqual([0, "service.payments.1\n"]);
    expect(made.err.replaceAll("\n", " ")).toMatch(
      /in 2 h\), IS SECRET.*opens what 1 rule of spring names/,
    );
    const json = await world.run(["service-token", "spring", "nobody", "--json"]);
    expect(json.json).toMatchObject({ name: "nobody", token: "service.nobody.2", rules: [] });
    expect(json.err).toContain("opens nothing");
    const asked = world.mint.asked.filter(({ url }) => url.endsWith("/service-tokens"));
    expect(asked.map(({ body }) => body)).toEqual([
      { name: "payments", lifetimeSeconds: 7_200 },
      { name: "nobody" },
    ]);
    expect((await world.run(["service-token", "autumn", "payments"])).code).toBe(1);
    for (const bad of [["spring"], ["spring", "Pay"], ["spring", "pay", "--until", "soon"]])
      expect((await world.run(["service-token", ...bad])).code).toBe(2);
  });
});

describe("events change", () => {
  it("shows what comes of it, asks, and does what it has shown", async () => {
    const world = await sale();
    const { code, out } = await change(world, ["--rate", "300"]);
    expect(code).toBe(0);
    expect(out).toMatchInlineSnapshot(`
      "Change spring  open
        rate            60 -> 300
        takes hold      00:00:50 (in 50 s): turns before that stay as they are

                             AS IT IS             WITH IT
        turns in minute 1    60                   100
        turns in minute 2    60                   300
        turns in minute 5    60                   300
        turns in minute 10   60                   300
        turns in minute 20   60                   300
        turns in minute 30   60                   300
        last of 400 waiting  00:07:00 (in 7 min)  00:02:00 (in 2 min)
        left out             0                    0
        can buy at once      up to 600            up to 3,000
      spring is changed.
      "
    `);
    expect(patches(world)).toMatchObject([
      { body: { ratePerMinute: 300 }, headers: { "If-Match": '"3"' } },
    ]);
  });

  it("changes nothing without a yes", async () => {
    for (const how of [{ answer: "n" }, {}]) {
      const world = await sale();
      expect((await change(world, ["--rate", "300"], how)).code).toBe(3);
      expect(patches(world)).toEqual([]);
    }
  });

  it("says in red who would be left out, and that a sale is held", async () => {
    const world = await sale();
    const { after } = world.mint.outlook;
    world.mint.outlook = {
      ...world.mint.outlook,
      state: "paused",
      after: { ...after!, leftOut: 70 },
    };
    const { out } = await change(world, ["--max-admissions", "330", "--yes"], {});
    expect(out).toContain("max admissions  none -> 330");
    expect(out).toContain("70 people would get no turn");
    expect(out).toContain("It is paused: this is as if it went on now.");
  });

  it("takes a plan of steps and ramps in any order, dated or from now on", async () => {
    const world = await sale();
    const now = world.clock.now();
    const later = new Date(now + 30 * MINUTE).toISOString();
    const args = [
      "--step",
      `${later}=600`,
      "--ramp",
      "+10m=60",
      "--step",
      "+2h=30",
      "--rate",
      "50",
    ];
    const { code, out } = await change(world, [...args, "--yes"], {});
    expect(code).toBe(0);
    expect(patches(world)[0]?.body).toEqual({
      ratePerMinute: 50,
      ratePlan: [
        { at: now + 10 * MINUTE, ratePerMinute: 60, ramp: true },
        { at: now + 30 * MINUTE, ratePerMinute: 600 },
        { at: now + 120 * MINUTE, ratePerMinute: 30 },
      ],
    });
    expect(out).toContain("none -> 00:10:00 60 and a ramp, 00:30:00 600, 02:00:00 30");
  });

  it("sends every other option under the mint's own name", async () => {
    const world = await sale({ maxAdmissions: 5 });
    const now = world.clock.now();
    const args = "--budget 20 --overdrive 200 --horizon 90 --max-admissions none --ends-at +5h";
    await change(
      world,
      [
        ...args.split(" "),
        "--notice",
        "Soon",
        "--presence",
        "confirm",
        "--end-plan",
        ...["--price-range", "20–90 €", "--no-tell-left", "--language", "de"],
        ...["--friction", '{"proofOfWorkBits":16}', "--looks", "{}", "--yes"],
      ],
      {},
    );
    expect(patches(world)[0]?.body).toEqual({
      ...{ approximationBudget: 20, overdrivePercent: 200, horizonSeconds: 90 },
      ...{ maxAdmissions: null, endsAt: now + 300 * MINUTE, notice: "Soon", ratePlan: [] },
      ...{ priceRange: "20–90 €", tellLeft: false, language: "de" },
      ...{ friction: { proofOfWorkBits: 16 }, looks: {} },
      presence: "confirm",
    });
  });

  it("shows no drip for what changes none: whether fans are asked if they are there", async () => {
    const world = await sale({ presence: "auto" });
    const { out } = await change(world, ["--presence", "confirm", "--yes"], {});
    expect(out).toMatch(/presence +"auto" -> "confirm"/);
    expect(out).not.toContain("turns in minute");
    expect(patches(world)[0]?.body).toEqual({ presence: "confirm" });
  });

  it("prints one document as the last line, with what was previewed", async () => {
    const world = await sale();
    const { json } = await change(world, ["--rate", "300", "--yes", "--json"], {});
    expect(json).toMatchObject({
      changed: true,
      version: 4,
      preview: { takesHoldAt: expect.any(Number) },
    });
    const again = await change(world, ["--rate", "300", "--yes", "--json"], {});
    expect(again.json).toMatchObject({ changed: false });
    expect(patches(world)).toHaveLength(1);
  });

  it("changes nothing that somebody else has changed meanwhile", async () => {
    const world = await sale();
    world.mint.broken = ({ method }) => {
      if (method === "PATCH") world.mint.events.get("spring")!.version = 9;
      return undefined;
    };
    const { code, err } = await change(world, ["--rate", "300", "--yes"], {});
    expect([code, err]).toEqual([1, expect.stringContaining("somebody else changed the event")]);
  });

  it("says so where it is not known whether it was done", async () => {
    const world = await sale();
    world.mint.broken = ({ method }) => (method === "PATCH" ? "away" : undefined);
    const { code, err } = await change(world, ["--rate", "300", "--yes"], {});
    expect([code, err]).toEqual([1, expect.stringContaining("vestibule events show spring")]);
  });

  it.each([
    [[], /Say what to change/],
    [["--end-plan", "--step", "+1m=5"], /not both/],
    [["--step", "10:00=5"], /a time like/],
    [["--step", "+5m"], /a time and a rate/],
    [["--step", "2026-13-01T10:00Z=5"], /a time like/],
    [["--rate", "1.5"], /a whole number/],
    [["--presence", "perhaps"], /auto[^]*confirm/],
    [["--ends-at", "2026-06-01T10:00"], /a time like/],
    [["--ends-at", "2026-06-31T10:00Z"], /a time like/],
    [["--step", "2027-02-29T10:00+02:00=5"], /a time like/],
  ])("refuses %j with exit code 2, and asks nobody", async (args, told) => {
    const world = await sale();
    const { code, err } = await change(world, args);
    expect([code, err]).toEqual([2, expect.stringMatching(told)]);
    expect(world.mint.asked).toEqual([]);
  });

  it("tells of an event that is not there, and of the mint's own refusal, every mistake named", async () => {
    const world = await sale();
    const nowhere = await world.run(["events", "change", "autumn", "--rate", "5"], {});
    expect([nowhere.code, nowhere.err]).toEqual([1, expect.stringContaining("no event autumn")]);
    const errors = [
      { field: "ratePerMinute", message: "Invalid input" },
      { field: "ratePlan.1.at", message: "Must be after the entry before" },
    ];
    const type = "urn:vestibule:problem:invalid-settings";
    world.mint.broken = ({ url }) =>
      url.endsWith("/preview")
        ? [422, { type, title: "Some values are not allowed", errors }]
        : undefined;
    const refused = await change(world, ["--rate", "9999999"]);
    expect(refused.code).toBe(1);
    for (const { field } of errors) expect(refused.err).toContain(field);
  });
});

describe("events list and show", () => {
  it("say how a sale goes and what is set", async () => {
    const world = await sale({ startsAt: 1, approximationBudget: 20 });
    expect((await world.run(["events", "list"])).out).toMatchInlineSnapshot(`
      "Events of http://localhost:8788
      EVENT   STATE  A MINUTE  WAITING  SERVING
      spring  open   60        400      450
      "
    `);
    expect((await world.run(["events", "show", "spring"])).out).toMatchInlineSnapshot(`
      "spring  open  Spring
        rate            60 a minute now
        plan            none
        budget          20
        overdrive       150 %
        horizon         1 min
        a slot lasts    10 min
        claim within    3 min
        presence        auto
        max admissions  none
        starts          1970-01-01 00:00:00 (20454 d ago)
        ends            04:00:00 (in 4 h)
        waiting         400 without a slot, 50 with one ahead
        serving         450 of 900
        turns           400 taken up, 12 not
        no place needed nowhere
      "
    `);
    const { json } = await world.run(["events", "show", "spring", "--json"]);
    expect(json).toMatchObject({ event: "spring", version: 3 });
    expect((await world.run(["events", "show", "autumn"])).code).toBe(1);
  });
});

/** What an open page does by itself: sold out and back, and a turn that was lost by a fault of ours. */
import { describe, expect, test } from "vitest";
import { NOW } from "../event.ts";
import { ScriptWorld } from "./script-world.ts";

const MINUTE = 60_000;
const OLD = { base: 1, count: 100, from: NOW - 900_000, until: NOW - 800_000 };
const joined = () => ({ status: 201, body: { event: "demo", number: 101, issuedAt: NOW } });
const soldOut = () => ({ status: 409, retryAfter: 30 });
const gaps = (times: readonly number[]) => times.slice(1).map((at, i) => at - (times[i] ?? 0));

describe("sold out", () => {
  test("a page with a place far behind goes on looking, once in half a minute or so and out of step, and goes on by itself", async () => {
    const spreads = new Set<number>();
    for (let round = 0; round < 5; round += 1) {
      const world = new ScriptWorld({ number: 500, drip: { state: "soldout" } });
      await world.pass(20 * MINUTE);
      expect(world.state).toBe("soldout");
      const between = gaps(world.times("drip"));
      expect(between.length).toBeGreaterThan(25);
      for (const ms of between) {
        expect(ms).toBeGreaterThanOrEqual(13_000);
        expect(ms).toBeLessThanOrEqual(41_000);
        spreads.add(Math.round(ms));
      }
      expect(world.asked.every(({ name }) => name === "drip")).toBe(true);
      world.say({ state: "open" });
      await world.pass(41_000);
      expect(world.state).toBe("waiting");
    }
    expect(spreads.size).toBeGreaterThan(50);
  });

  test("hidden it looks more rarely", async () => {
    const world = new ScriptWorld({ number: 500, drip: { state: "soldout" } });
    world.document.hidden = true;
    await world.pass(30 * MINUTE);
    expect(world.times("drip").length).toBeLessThan(42);
  });

  test("a join that was refused is tried again when it reopens, and not before", async () => {
    const world = new ScriptWorld({ drip: { state: "soldout" } });
    world.grant = soldOut;
    await world.pass(20 * MINUTE);
    expect(world.state).toBe("soldout");
    expect(world.times("tickets").length).toBeLessThanOrEqual(1);
    world.grant = joined;
    world.say({ state: "open" });
    await world.pass(50_000);
    expect(world.text("number")).toBe("101");
  });

  test("refused by a mint that knows more than the statement at hand: no storm, and soon the truth", async () => {
    const world = new ScriptWorld({ drip: { state: "open" } });
    world.grant = soldOut;
    await world.pass(1_000);
    world.say({ state: "soldout" });
    await world.pass(10_000);
    expect(world.state).toBe("soldout");
    await world.pass(10 * MINUTE);
    expect(world.times("tickets").length).toBeLessThanOrEqual(2);
    expect(world.times("drip").length).toBeLessThan(40);
  });

  test("refused all the time by a mint whose statement says open: a bounded number of tries", async () => {
    const world = new ScriptWorld({ drip: { state: "open" } });
    world.grant = soldOut;
    await world.pass(10 * MINUTE);
    expect(world.times("tickets").length).toBeLessThan(30);
    expect(world.asked.length).toBeLessThan(260);
  });
});

describe("a last call", () => {
  const lastCall = { from: NOW, until: NOW + 10 * MINUTE };
  const known = [{ base: 480, count: 60, from: NOW + 9 * MINUTE, until: NOW + 10 * MINUTE }];

  test.each([
    ["far behind", {}],
    ["with a turn that is set", { committed: 539, segments: known }],
  ])(
    "a page %s looks about every second, and says within one look that all is gone",
    async (_n, drip) => {
      const world = new ScriptWorld({ number: 500, drip: { ...drip, lastCall } });
      await world.pass(5 * MINUTE);
      const looks = gaps(world.times("drip"));
      expect(looks.length).toBeGreaterThan(250);
      expect(Math.max(...looks)).toBeLessThanOrEqual(1_000);
      expect(Math.min(...looks)).toBeGreaterThanOrEqual(600);
      world.say({ ...drip, lastCall, state: "soldout" });
      await world.pass(1_000);
      expect(world.text("lead")).toContain("sold or reserved");
      // From then on there is no hurry.
      const before = world.times("drip").length;
      await world.pass(2 * MINUTE);
      expect(world.times("drip").length - before).toBeLessThan(15);
    },
  );

  test("a page needs no look to begin with it, and none to end: every second, for the stated span", async () => {
    const span = { from: NOW + 3 * MINUTE, until: NOW + 5 * MINUTE };
    const world = new ScriptWorld({ number: 9_000, drip: { state: "prequeue", lastCall: span } });
    await world.pass(20 * MINUTE);
    const looks = world.times("drip");
    const within = (from: number, until: number) =>
      looks.filter((at) => NOW + at >= from && NOW + at < until).length;
    expect(within(NOW, span.from)).toBeLessThan(7);
    expect(within(span.from, span.from + 1_000)).toBeGreaterThanOrEqual(1);
    expect(within(span.from, span.until)).toBeGreaterThan(110);
    expect(within(span.until, NOW + 20 * MINUTE)).toBeLessThan(32);
  });

  test("hidden it looks as ever", async () => {
    const world = new ScriptWorld({ number: 9_000, hidden: true, drip: { lastCall } });
    await world.pass(10 * MINUTE);
    expect(world.times("drip").length).toBeLessThan(16);
  });

  test("a location in trouble is not asked every second, and is again when it is well", async () => {
    const world = new ScriptWorld({ number: 9_000, drip: { lastCall } });
    await world.pass(10_000);
    world.dripStatus = 503;
    const before = world.times("drip").length;
    await world.pass(2 * MINUTE);
    expect(world.times("drip").length - before).toBeLessThan(10);
    world.dripStatus = 200;
    await world.pass(2 * MINUTE);
    const well = world.times("drip").length;
    await world.pass(MINUTE);
    expect(world.times("drip").length - well).toBeGreaterThan(55);
  });

  test("QP-10: a turn that runs out between two looks is missed, also when the next statement lists it no more", async () => {
    for (let round = 0; round < 40; round += 1) {
      const segment = { base: 101, count: 1, from: NOW + 100, until: NOW + 1_100 };
      const drip = { committed: 101, segments: [segment], lastCall };
      const world = new ScriptWorld({ number: 101, claimWindowSeconds: 5, drip });
      // The network loses every claim: nobody else tells it.
      await world.pass(5_100);
      world.say({ ...drip, segments: [] });
      await world.pass(3_000);
      expect(world.state).toBe("missed");
    }
  });

  test("HP-11: looking every second changes nothing on the page, so that nothing is read out", async () => {
    const world = new ScriptWorld({ number: 9_000, drip: { lastCall, rate: 1 } });
    await world.pass(5_000);
    const [headline, lead] = [world.text("headline"), world.text("lead")];
    const written = world.written;
    expect(lead).toContain("What is left may be gone soon.");
    await world.pass(MINUTE);
    expect([world.text("headline"), world.text("lead")]).toEqual([headline, lead]);
    expect(world.written).toBe(written);
  });
});

describe("near the front of a line that stands still", () => {
  const stopped = [
    ["sold out", { state: "soldout" as const }],
    ["paused", { state: "paused" as const, heldSince: NOW - 1_000 }],
  ] as const;

  test.each(
    stopped.flatMap(([name, drip]) => [5, 20, 180].map((window) => [name, window, drip] as const)),
  )(
    "%s, with %i s to claim: when it goes on, a page that is open never misses its slot, visible or hidden",
    async (_name, claimWindowSeconds, drip) => {
      for (const [hidden, number] of [
        [false, 101],
        [true, 101],
        [false, 104],
        [true, 130],
      ] as const) {
        const world = new ScriptWorld({ number, claimWindowSeconds, hidden, drip });
        await world.pass(10 * MINUTE + Math.random() * MINUTE);
        // Everything that came back opens at once, at full overdrive.
        const from = NOW + world.ms;
        const segment = { base: 101, count: 60, from, until: from + 40_000 };
        world.say({ state: "open", committed: 160, segments: [segment] });
        world.grant = () => ({ status: 410 });
        await world.pass(10 * MINUTE);
        const opened = from - NOW + Math.floor(((number - 101) * 40_000) / 60);
        const [claimed = Infinity] = world.times("admissions");
        expect(claimed - opened).toBeLessThan(claimWindowSeconds * 500 + 10);
        const looks = gaps(world.times("drip"));
        expect(Math.min(...looks)).toBeGreaterThan(600);
      }
    },
  );

  test("far behind it looks rarely, also when the time to claim is short", async () => {
    const world = new ScriptWorld({
      number: 9_000,
      claimWindowSeconds: 5,
      drip: { state: "soldout" },
    });
    await world.pass(60 * MINUTE);
    expect(world.times("drip").length).toBeLessThan(90);
  });

  test("its network comes back after a long outage: in time as well", async () => {
    const world = new ScriptWorld({ number: 101, drip: { state: "soldout" } });
    await world.pass(MINUTE);
    world.dripStatus = 503;
    await world.pass(30 * MINUTE);
    for (const ms of gaps(world.times("drip"))) expect(ms).toBeLessThanOrEqual(90_001);
  });
});

describe("a place that the line has passed", () => {
  test("is asked for at once, and is never said to be almost its turn", async () => {
    const world = new ScriptWorld({ number: 50 });
    world.grant = () => ({ status: 410 });
    await world.pass(400);
    expect(world.states).toEqual(["passed", "missed"]);
    await world.pass(5 * MINUTE);
    expect(world.states).toEqual(["passed", "missed"]);
    expect(world.times("admissions")).toHaveLength(1);
    expect(world.times("drip").length).toBeLessThan(25);
  });

  test("a turn that ran out before our eyes stays missed when its slot is listed no more", async () => {
    const world = new ScriptWorld({ number: 50, drip: { segments: [OLD] } });
    world.grant = () => ({ status: 503, retryAfter: 5 });
    await world.pass(1_000);
    expect(world.state).toBe("missed");
    world.say({ segments: [] });
    await world.pass(MINUTE);
    world.grant = () => ({ status: 410 });
    await world.pass(3 * MINUTE);
    expect(world.states).toEqual(["missed"]);
  });

  test("one that is owed a slot is told so, and goes in with it", async () => {
    const world = new ScriptWorld({ number: 50 });
    world.grant = () => ({ status: 425, retryAfter: 2 });
    await world.pass(20_000);
    expect(world.states).toEqual(["passed", "owed"]);
    const fresh = { base: 50, count: 1, from: NOW + 30_000, until: NOW + 31_000 };
    world.grant = () => ({
      status: 201,
      body: { opensAt: fresh.from, closesAt: fresh.from + 600_000 },
    });
    world.say({ segments: [fresh] });
    await world.pass(15_000);
    expect(world.states.slice(0, 3)).toEqual(["passed", "owed", "known"]);
    expect(world.reloads).toBe(1);
  });

  test("one that has bought hears of its order, and claims no more", async () => {
    const world = new ScriptWorld({ number: 50 });
    world.grant = () => ({ status: 410, body: { order: "/orders/a" } });
    await world.pass(1_000);
    expect(world.state).toBe("bought");
    expect(world.order).toBe("/orders/a");
    expect(world.isShown("order")).toBe(true);
    const asked = world.asked.length;
    await world.pass(30 * MINUTE);
    expect(world.asked.length - asked).toBeLessThanOrEqual(1);

    const known = new ScriptWorld({ number: 50, order: "/orders/a", credit: true });
    await known.pass(30 * MINUTE);
    expect(known.states).toEqual(["bought"]);
    expect(known.times("admissions")).toEqual([]);
  });
});

describe("a page that answers a form", () => {
  test("lives at the address of its link, and moves in there: the form is never sent again", async () => {
    const back = "/events/demo";
    const world = new ScriptWorld({ number: 101, back });
    expect(world.address).toBe(back);
    const segment = { base: 101, count: 1, from: NOW + 10_000, until: NOW + 11_000 };
    world.grant = () => ({ status: 201, body: { opensAt: segment.from, closesAt: NOW + 600_000 } });
    world.say({ segments: [segment], committed: 101 });
    await world.pass(30_000);
    expect(world.replaced[0]).toBe(back);
    expect(world.reloads).toBe(0);
  });

  test("one that said that the turn has passed goes on saying it", async () => {
    const world = new ScriptWorld({ number: 50, missed: true, back: "/events/demo" });
    await world.pass(5 * MINUTE);
    expect(world.states).toEqual(["missed"]);
    expect(world.times("admissions")).toEqual([]);
  });
});

describe("a turn that was lost by a fault of ours", () => {
  const fresh = { base: 50, count: 1, from: NOW + 20_000, until: NOW + 21_000 };
  const used = () => ({ status: 425, body: { creditUsed: true }, retryAfter: 1 });

  test("is claimed again by the page itself, which moves in when the fresh turn opens", async () => {
    const world = new ScriptWorld({ number: 50, credit: true, drip: { segments: [OLD] } });
    world.grant = used;
    await world.pass(1_000);
    expect(world.state).toBe("credit");
    expect(world.text("headline")).toBe("Your turn is not lost");
    expect(world.text("lead")).toContain("This page asks for it by itself.");
    expect(world.times("admissions").length).toBeGreaterThan(0);
    world.say({ segments: [fresh] });
    world.grant = () => ({
      status: 201,
      body: { opensAt: fresh.from, closesAt: fresh.from + 600_000 },
    });
    await world.pass(10_000);
    expect(world.state).toBe("known");
    expect(world.reloads).toBe(0);
    await world.pass(10_000);
    // A real page is gone after the first; this one may try once more within the time.
    expect(world.reloads).toBeGreaterThan(0);
  });

  test("whose slot is listed no more, or not settled yet: asked until it is, not faster than every 1.5 s", async () => {
    const world = new ScriptWorld({ number: 50, credit: true });
    world.grant = () => ({ status: 425, body: {}, retryAfter: 1 });
    await world.pass(MINUTE);
    expect(world.state).toBe("credit");
    const claims = world.times("admissions");
    expect(claims.length).toBeGreaterThan(20);
    for (const ms of gaps(claims)) expect(ms).toBeGreaterThanOrEqual(1_500);
  });

  test("whose credit was refused for good: the page says that the turn has passed, and asks no more", async () => {
    const world = new ScriptWorld({ number: 50, credit: true, drip: { segments: [OLD] } });
    world.grant = () => ({ status: 410 });
    await world.pass(5 * MINUTE);
    expect(world.state).toBe("missed");
    expect(world.times("admissions")).toHaveLength(1);
  });

  test("waits through a pause and an outage of supply, without a claim, and goes on then", async () => {
    for (const drip of [
      { state: "soldout" as const, segments: [OLD] },
      { state: "paused" as const, heldSince: NOW - 1_000, segments: [OLD] },
    ]) {
      const world = new ScriptWorld({ number: 50, credit: true, drip });
      await world.pass(5 * MINUTE);
      expect(world.state).toBe(drip.state);
      // The first look tells; what was claimed before it is one request.
      expect(world.times("admissions").length).toBeLessThanOrEqual(1);
      world.grant = used;
      world.say({ segments: [OLD] });
      await world.pass(2 * MINUTE);
      expect(world.state).toBe("credit");
      expect(world.times("admissions").length).toBeGreaterThan(0);
    }
  });

  test("the fresh turn's own end is final: the credit is not used twice", async () => {
    const world = new ScriptWorld({ number: 50, credit: true, drip: { segments: [OLD] } });
    world.grant = used;
    await world.pass(2_000);
    world.say({ segments: [fresh] });
    await world.pass(8_000);
    expect(world.state).toBe("known");
    world.grant = () => ({ status: 503, retryAfter: 5 });
    await world.pass(20_000);
    expect(world.state).toBe("turn");
    world.grant = () => ({ status: 410 });
    await world.pass(10 * MINUTE);
    expect(world.state).toBe("missed");
  });

  test("without a credit a turn that has passed is asked for once", async () => {
    const world = new ScriptWorld({ number: 50, drip: { segments: [OLD] } });
    world.grant = () => ({ status: 410 });
    await world.pass(5 * MINUTE);
    expect(world.state).toBe("missed");
    expect(world.times("admissions").length).toBeLessThanOrEqual(1);
  });
});

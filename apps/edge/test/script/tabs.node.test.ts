/** Leaving, and what several tabs of one browser know of each other. */
import { describe, expect, test } from "vitest";
import { NOW } from "../event.ts";
import { ScriptWorld } from "./script-world.ts";

const joined = (number: number) => () => ({
  status: 201,
  body: { event: "demo", number, issuedAt: NOW },
});
const opensAt = NOW + 20_000;
const SOON = {
  committed: 101,
  segments: [{ base: 101, count: 1, from: opensAt, until: opensAt + 1_000 }],
};
const claimed = () => ({ status: 201, body: { opensAt, closesAt: opensAt + 600_000 } });

describe("leaving", () => {
  test("gives the place up, says so, and takes no other until the fan asks for one", async () => {
    const world = new ScriptWorld({ number: 500 });
    world.grant = () => ({ status: 204 });
    await world.pass(2_000);
    expect(world.isShown("more")).toBe(true);
    world.press("leave");
    await world.pass(30 * 60_000);
    expect(world.state).toBe("gone");
    expect(world.text("headline")).toBe("You have left the line");
    expect([world.isShown("place"), world.isShown("more"), world.isShown("join")]).toEqual([
      false,
      false,
      true,
    ]);
    expect(world.times("tickets")).toEqual([]);
    expect(world.times("me")).toHaveLength(1);
    // The cookie went with the place: the first answer sets one, and the page needs no second press.
    world.grant = () => {
      world.grant = joined(812);
      return { status: 400, body: { reason: "cookies-off" } };
    };
    world.press("join");
    await world.pass(2_000);
    expect(world.text("number")).toBe("812");
    expect(world.state).toBe("waiting");
  });

  test("a turn that is set, and an admission in hand, are given up with it: nothing is claimed, nothing entered", async () => {
    const world = new ScriptWorld({ number: 101, drip: SOON });
    world.grant = claimed;
    await world.pass(15_000);
    world.grant = () => ({ status: 204 });
    world.press("leave");
    const claims = world.times("admissions").length;
    await world.pass(120_000);
    expect([world.state, world.reloads, world.times("admissions").length]).toEqual([
      ...["gone", 0, claims],
    ]);
  });

  test("a page that is loaded again after it takes no place by itself", async () => {
    const world = new ScriptWorld({ gone: true });
    world.grant = joined(812);
    await world.pass(10 * 60_000);
    expect([world.state, world.times("tickets").length]).toEqual(["gone", 0]);
  });

  test("no network: the place is kept, and said to be", async () => {
    const world = new ScriptWorld({ number: 500 });
    world.grant = () => ({ status: 503 });
    await world.pass(1_000);
    world.press("leave");
    await world.pass(100);
    expect(world.state).toBe("unreachable");
    expect(world.text("number")).toBe("500");
  });
});

describe("a second tab", () => {
  const twoTabs = (data: object = {}): [ScriptWorld, ScriptWorld] => {
    const stored = new Map<string, string>();
    const one = new ScriptWorld({ number: 101, drip: SOON, ...data, stored });
    return [one, new ScriptWorld({ number: 101, drip: SOON, ...data, stored })];
  };

  test("opened together: each is given the same place, and none loads anew for the others", async () => {
    const stored = new Map<string, string>();
    const tabs = [1, 2, 3].map(() => new ScriptWorld({ stored }));
    for (const tab of tabs) {
      tab.grant = joined(812);
      await tab.pass(2_000);
    }
    for (const tab of tabs) tab.tabWrote();
    expect(tabs.map((tab) => [tab.text("number"), tab.reloads])).toEqual([
      ...[1, 2, 3].map(() => ["812", 0]),
    ]);
  });

  test("hears of a place that was given up, or taken, in the first", async () => {
    const [one, two] = twoTabs({ number: 500, drip: {} });
    for (const world of [one, two]) await world.pass(2_000);
    one.grant = () => ({ status: 204 });
    one.press("leave");
    await one.pass(0);
    two.tabWrote();
    // Loaded anew it is told what has become of the place (leaving.workerd.test.ts).
    expect(two.reloads).toBe(1);
    one.grant = joined(812);
    one.press("join");
    await one.pass(0);
    two.tabWrote();
    expect(two.reloads).toBe(2);
  });

  test("hears that the first has gone in: it stays, and goes in when it is asked to", async () => {
    const [one, two] = twoTabs();
    for (const world of [one, two]) {
      world.grant = claimed;
      await world.pass(15_000);
    }
    await one.pass(5_300);
    expect(one.reloads).toBeGreaterThan(0);
    two.tabWrote();
    await two.pass(60_000);
    expect([two.state, two.reloads]).toEqual(["turn", 0]);
    expect(two.isShown("enter")).toBe(true);
    two.press("enter");
    await two.pass(0);
    expect(two.reloads).toBeGreaterThan(0);
  });
});

describe("what a screen reader is told", () => {
  test("HP-11: words in the live region change with the state, and otherwise at most once a minute", async () => {
    const world = new ScriptWorld({ number: 9_000 });
    await world.pass(5_000);
    let spoken = 0;
    let last = world.text("lead");
    // News that comes and goes every ten seconds.
    for (let second = 0; second < 600; second += 10) {
      const lastCall = { from: NOW, until: NOW + 3_600_000 };
      world.say(second % 20 === 0 ? { lastCall } : {});
      await world.pass(10_000);
      if (world.text("lead") !== last) spoken += 1;
      last = world.text("lead");
    }
    expect(world.states).toEqual(["waiting"]);
    expect(spoken).toBeGreaterThanOrEqual(3);
    expect(spoken).toBeLessThanOrEqual(10);
    world.say({ state: "paused", heldSince: NOW });
    await world.pass(90_000);
    expect(world.text("headline")).toBe("The sale is paused");
  });
});

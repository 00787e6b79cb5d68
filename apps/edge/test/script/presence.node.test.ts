/** An open page of an event that asks whether its fans are there: what it does by itself, and what only a press does. */
import type { DripView } from "@vestibule/contracts/statements";
import { describe, expect, test } from "vitest";
import { NOW } from "../event.ts";
import { ScriptWorld } from "./script-world.ts";

const WINDOW_SECONDS = 60;
const opensAt = NOW + 30_000;
const SEGMENT = { base: 101, count: 1, from: opensAt, until: opensAt + 1_000 };
const drip: Partial<DripView> = { presence: "confirm", committed: 101, segments: [SEGMENT] };
const { presence: _presence, ...auto } = drip;
const granted = () => ({ status: 201, body: { opensAt, closesAt: opensAt + 600_000 } });
const open = (more: object = {}) =>
  new ScriptWorld({ number: 101, claimWindowSeconds: WINDOW_SECONDS, drip, ...more });
const claims = (world: ScriptWorld) => world.asked.filter(({ name }) => name === "admissions");

describe("presence: confirm", () => {
  test("a page that nobody presses anything on claims nothing, whatever else it does, and says that the turn has passed", async () => {
    for (const hidden of [false, true]) {
      const world = open({ hidden });
      await world.pass(89_000);
      expect(world.state).toBe("confirm");
      expect(claims(world)).toEqual([]);
      world.grant = () => ({ status: 410 });
      await world.pass(3_000);
      expect(world.state).toBe("missed");
      expect(world.isShown("join")).toBe(true);
      expect(claims(world).every(({ body }) => body === undefined)).toBe(true);
      expect(world.reloads).toBe(0);
    }
  });

  test("pressed before the turn: claims at once and says so, waits as ever, and goes in by itself at its moment", async () => {
    const world = open();
    world.grant = granted;
    await world.pass(4_000);
    world.press("confirm");
    await world.pass(0);
    expect(claims(world)).toMatchObject([{ at: 4_000, body: '{"confirmed":true}' }]);
    expect(world.state).toBe("known");
    expect(world.text("lead")).toContain("You have said that you are here");
    expect(world.isShown("confirm")).toBe(false);
    await world.pass(25_900);
    expect(world.reloads).toBe(0);
    await world.pass(400);
    expect(world.reloads).toBe(1);
    expect(claims(world)).toHaveLength(1);
  });

  test("pressed after the opening: goes in at once", async () => {
    const world = open();
    world.grant = granted;
    await world.pass(80_000);
    expect(world.text("headline")).toBe("It is your turn. Are you here?");
    world.press("confirm");
    await world.pass(300);
    expect(world.reloads).toBe(1);
  });

  test("one press is enough: the mint is away, and the page tries until it hears", async () => {
    const world = open();
    world.grant = () => ({ status: 503, retryAfter: 3 });
    await world.pass(2_000);
    world.press("confirm");
    await world.pass(10_000);
    expect(world.state).toBe("confirm");
    expect(world.text("headline")).toBe("Thank you");
    expect(world.isShown("confirm")).toBe(false);
    expect(claims(world).length).toBeGreaterThanOrEqual(2);
    expect(claims(world).length).toBeLessThan(6);
    world.grant = granted;
    await world.pass(70_000);
    expect(claims(world).every(({ body }) => body === '{"confirmed":true}')).toBe(true);
    expect(world.reloads).toBeGreaterThan(0);
  });

  test("what a reader is told: the question, the opening and the end that is near, each once; the seconds are not read out", async () => {
    const world = open();
    const said: string[] = [];
    for (let second = 0; second < 89; second += 1) {
      await world.pass(1_000);
      const now = `${world.text("headline")} ${world.text("lead")}`;
      if (said.at(-1) !== now) said.push(now);
    }
    expect(said).toHaveLength(3);
    expect(said[0]).toMatch(/^Are you here\?/);
    expect(said[1]).toMatch(/^It is your turn/);
    expect(said[2]).toContain("not much time left");
  });

  test("the title of a tab behind others says it, and how long there is, to the end", async () => {
    const world = open({ hidden: true });
    await world.pass(5_000);
    expect(world.document.title).toBe("1:25 · Are you here? · Spring concert");
    await world.pass(40_000);
    expect(world.document.title).toBe("0:45 · It is your turn. Are you here? · Spring concert");
  });

  test("whoever has pressed is not asked again after a reload: the page knows the admission, and claims nothing", async () => {
    const world = open({ claimed: { opensAt, closesAt: opensAt + 600_000 } });
    await world.pass(29_900);
    expect(world.states).not.toContain("confirm");
    expect(world.asked.every(({ name }) => name === "drip")).toBe(true);
    await world.pass(400);
    expect(world.reloads).toBe(1);
  });

  test("law 9: whoever has pressed goes in at their moment while nobody answers, also by a page that is loaded in it", async () => {
    const pressed = open();
    pressed.grant = granted;
    await pressed.pass(2_000);
    pressed.press("confirm");
    await pressed.pass(100);
    const loaded = open({ claimed: { opensAt, closesAt: opensAt + 600_000 } });
    for (const world of [pressed, loaded]) {
      world.dripStatus = 503;
      world.grant = () => ({ status: 503 });
      await world.pass(opensAt - NOW - world.ms - 100);
      expect(world.reloads).toBe(0);
      await world.pass(500);
      expect(world.reloads).toBe(1);
    }
  });

  test("a slot that a hold cut and gave anew asks again: the pause may have been long", async () => {
    const world = open();
    world.grant = granted;
    await world.pass(2_000);
    world.press("confirm");
    await world.pass(100);
    world.say({ ...drip, state: "paused", heldSince: NOW + 3_000 });
    await world.pass(60_000);
    expect(world.state).toBe("paused");
    const from = NOW + 120_000;
    world.say({ ...drip, segments: [{ ...SEGMENT, from, until: from + 1_000 }] });
    await world.pass(40_000);
    expect(world.state).toBe("confirm");
    expect(claims(world)).toHaveLength(1);
  });

  test("asked for while the page is open: a turn that is set asks; not asked for any more: it is taken without a press", async () => {
    const world = open({ drip: { ...auto, committed: 100, segments: [] } });
    world.grant = granted;
    await world.pass(1_000);
    world.say(drip);
    await world.pass(20_000);
    expect(world.state).toBe("confirm");
    expect(claims(world)).toEqual([]);
    world.say(auto);
    await world.pass(45_000);
    expect(claims(world)).toMatchObject([{ body: undefined }]);
    expect(world.reloads).toBeGreaterThan(0);
  });

  test("at a location whose clock is wrong the question is asked all the same: the word counts at the mint", async () => {
    const world = open({ drip: { ...drip, fault: "clock" } });
    world.grant = granted;
    await world.pass(2_000);
    expect(world.state).toBe("confirm");
    world.press("confirm");
    await world.pass(100);
    expect(world.state).toBe("clock");
    expect(claims(world)).toHaveLength(1);
  });
});

/** Alerts: what is due when, their texts, and the button in the page. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Due, alertsOf } from "../../src/page/client/alerts/due.ts";
import { EVENT, NOW } from "../event.ts";
import { ScriptWorld } from "./script-world.ts";

describe("what is due", () => {
  const settings = { ...EVENT, claimWindowSeconds: 180 };
  const opensAt = NOW + 60_000;
  const due = (view: Partial<Due>, isHidden = false) =>
    alertsOf(
      { state: "known", said: false, now: NOW, slot: { opensAt }, settings, ...view },
      isHidden,
    );
  const name = String(opensAt);

  test("a turn: once, ten seconds before it opens, since the page goes in by itself then", () => {
    expect(due({})).toEqual([{ at: opensAt - 10_000, name }]);
    expect(due({ state: "turn", now: opensAt + 5_000 })).toEqual([{ at: opensAt - 10_000, name }]);
  });

  test("in a tab that is hidden a minute earlier: its timers may be that late", () => {
    expect(due({}, true)).toEqual([{ at: opensAt - 70_000, name }]);
  });

  test("a question: at once, and again when little time is left; nothing once it is answered", () => {
    expect(due({ state: "confirm" })).toEqual([
      { at: NOW, name },
      { at: opensAt + 150_000, name: `${name}-hurry` },
    ]);
    expect(due({ state: "confirm", said: true })).toEqual([]);
  });

  test("no turn: nothing", () => {
    expect(due({ state: "waiting", slot: undefined })).toEqual([]);
    for (const state of ["missed", "paused", "clock", "bought"] as const)
      expect(due({ state })).toEqual([]);
  });
});

describe("their texts", () => {
  const folder = join(import.meta.dirname, "../../src/page/texts");
  test.each(readdirSync(folder))("%s: complete, plain, and no longer than they need be", (file) => {
    const { alerts } = JSON.parse(readFileSync(join(folder, file), "utf8")) as {
      alerts: Record<string, string>;
    };
    expect(Object.keys(alerts)).toEqual(["both", "sound", "press"]);
    for (const text of Object.values(alerts)) {
      expect(text).toMatch(/^[^<>&"'\\`{}\p{Cc}]+$/u);
      expect(text.trim()).toBe(text);
      expect(text.length).toBeLessThan(160);
    }
  });
});

describe("the button", () => {
  test("asks for nothing before it is pressed", async () => {
    const world = new ScriptWorld({ number: 500 });
    await world.pass(60_000);
    expect([world.isShown("alert"), world.times("alerts.js")]).toEqual([true, []]);
  });

  test("that was pressed in this browser before asks at once", async () => {
    const world = new ScriptWorld({ number: 500, stored: new Map([["vst-alert", "1"]]) });
    await world.pass(1_000);
    expect(world.times("alerts.js")).toEqual([0]);
  });

  test("another version's bytes do not run: it hides, and the place goes on", async () => {
    const world = new ScriptWorld({ number: 500, stored: new Map([["vst-alert", "1"]]) });
    // Nothing that is fetched runs here.
    await world.pass(40_000);
    expect([world.isShown("alert"), world.state]).toEqual([false, "waiting"]);
    expect(world.times("drip").length).toBeGreaterThan(1);
  });
});

describe("after leaving", () => {
  test("the way back into the line has the focus", async () => {
    const world = new ScriptWorld({ number: 500 });
    world.grant = () => ({ status: 204 });
    await world.pass(1_000);
    world.press("leave");
    await world.pass(100);
    expect([world.state, world.hasFocus("join")]).toEqual(["gone", true]);
  });
});

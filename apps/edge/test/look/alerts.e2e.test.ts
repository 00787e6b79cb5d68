/** Alerts in a real Chromium: the button, its script under the content policy, and what tells of a turn. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { NOW, isQuestion } from "../world.ts";
import type { NamedScene } from "./scenes.ts";
import { CHROMIUM, type LookBrowser, type Staged, launchLook, stage } from "./stage.ts";

interface Heard {
  readonly tones: number;
  readonly asked: number;
  readonly notices: readonly { title: string; body: string; closed: boolean }[];
}

/** A speaker and a screen that only remember, and a fan who looks elsewhere; `answer` to the question for notifications. */
const pretend = (answer: "granted" | "denied") => `{
  const heard = globalThis.heard = { tones: 0, asked: 0, notices: [] };
  globalThis.AudioContext = class {
    state = "suspended";
    currentTime = 0;
    destination = {};
    async resume() { if (navigator.userActivation.hasBeenActive) this.state = "running"; }
    createOscillator() {
      return { connect() {}, start() { heard.tones += 1; }, stop() {} };
    }
  };
  globalThis.Notification = class {
    static permission = localStorage.getItem("permission") ?? "default";
    static async requestPermission() {
      heard.asked += 1;
      localStorage.setItem("permission", "${answer}");
      return (this.permission = "${answer}");
    }
    constructor(title, { body }) {
      heard.notices.push(this.notice = { title, body, closed: false });
    }
    addEventListener() {}
    close() { this.notice.closed = true; }
  };
  document.hasFocus = () => false;
}`;
const PATIENT = { timeout: 20_000 };
const never = (): Promise<Response> => new Promise(() => undefined);
const turn = (drip: NamedScene["drip"] = {}): NamedScene => ({
  ...{ name: "alerts", state: drip?.presence === "confirm" ? "confirm" : "known", number: 75 },
  drip: { ...drip, segments: [{ base: 75, count: 1, from: NOW + 60_000, until: NOW + 61_000 }] },
  prepare: (world) => {
    world.mint = ({ method, url }) => (method === "POST" && !isQuestion(url) ? never() : undefined);
  },
});
const heard = (page: Page) => page.evaluate<Heard>("heard");
const isPressed = (page: Page) => page.getAttribute("#alert", "aria-pressed");
const goAway = (page: Page) =>
  page.evaluate(`
    Object.defineProperty(document, "hidden", { value: true, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  `);

describe.skipIf(CHROMIUM === undefined && process.env["CI"] === undefined)("alerts", () => {
  let look: LookBrowser;
  beforeAll(async () => {
    look = await launchLook();
  });
  afterAll(() => look?.close());

  async function open(scene: NamedScene, answer: "granted" | "denied"): Promise<Staged> {
    const staged = await stage(look.browser, scene, { locale: "en-GB" });
    onTestFinished(() => staged.close());
    await staged.page.addInitScript(pretend(answer));
    await staged.page.reload();
    return staged;
  }

  async function press(page: Page, wanted: "true" | "false"): Promise<void> {
    await page.focus("#alert");
    await page.keyboard.press("Enter");
    await page.locator(`#alert[aria-pressed="${wanted}"]`).waitFor();
  }

  test("nothing before a press; then the sound is heard, and the turn told once, and taken back when the fan comes", async () => {
    const { page, faults } = await open(turn(), "granted");
    expect(await heard(page)).toEqual({ tones: 0, asked: 0, notices: [] });
    await press(page, "true");
    await page.getByText("A sound and a notification tell you").waitFor();
    expect(await page.evaluate("document.activeElement.id")).toBe("alert");
    expect(await heard(page)).toEqual({ tones: 3, asked: 1, notices: [] });
    await goAway(page);
    await expect.poll(async () => (await heard(page)).notices.length, PATIENT).toBe(1);
    const [notice] = (await heard(page)).notices;
    expect(notice).toEqual({
      ...{ title: "Winter night train", body: "Your turn is coming up", closed: false },
    });
    await page.evaluate("dispatchEvent(new Event('focus'))");
    expect((await heard(page)).notices[0]?.closed).toBe(true);
    // Told once, also when the page is loaded again, where this browser has it on.
    await page.reload();
    await page.locator('#alert[aria-pressed="true"]').waitFor();
    const mute = page.getByText("Press anywhere on this page first");
    await mute.waitFor();
    await page.click("h1");
    await mute.waitFor({ state: "detached" });
    await goAway(page);
    expect((await heard(page)).notices).toEqual([]);
    await press(page, "false");
    await page.reload();
    await page.locator("#alert").waitFor();
    expect([await isPressed(page), faults]).toEqual([null, []]);
  });

  test("notifications denied: sound only, and that is said", async () => {
    const { page, faults } = await open(turn(), "denied");
    await press(page, "true");
    await page.getByText("notifications are not allowed here").waitFor();
    await goAway(page);
    await expect.poll(async () => (await heard(page)).tones, PATIENT).toBe(6);
    expect([(await heard(page)).notices, faults]).toEqual([[], []]);
  });

  test("a question is told at once", async () => {
    const { page, faults } = await open(turn({ presence: "confirm" }), "granted");
    await press(page, "true");
    await expect.poll(async () => (await heard(page)).notices.length, PATIENT).toBe(1);
    expect((await heard(page)).notices[0]?.body).toBe("Are you here?");
    expect(await page.getAttribute("link", "href")).toContain("svg");
    expect(faults).toEqual([]);
  });

  test("another version's script does not run: the button goes, and nothing else", async () => {
    const { page, faults } = await open(turn(), "granted");
    await page.route("**/alerts.js", (route) => route.fulfill({ body: "globalThis.strange = 1" }));
    await page.click("#alert");
    await page.locator("#alert").waitFor({ state: "hidden" });
    expect(await page.evaluate("globalThis.strange")).toBeUndefined();
    expect(await page.getAttribute("main", "data-state")).toBe("known");
    expect(faults.filter((fault) => !/policy/i.test(fault))).toEqual([]);
  });
});

/** Whatever an organizer writes: the page keeps its width on every screen, and its own words stay whole. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { NamedScene } from "./scenes.ts";
import { turnTo } from "./screens.ts";
import { CHROMIUM, type LookBrowser, launchLook, stage } from "./stage.ts";

const SCREENS = [
  { name: "small", width: 320, height: 568 },
  { name: "side", width: 568, height: 320 },
  { name: "large side", width: 844, height: 390 },
  { name: "desktop", width: 1_280, height: 800 },
];
/** No end of marks on one letter. */
const STACKED = `Z${"\u0301\u0323\u0489".repeat(60)}`;
const WORDS: readonly { name: string; words: string }[] = [
  { name: "one word of 200 letters", words: "W".repeat(200) },
  { name: "markup", words: '</p><script>alert(1)</script><h1 style="position:fixed">"&lt;' },
  { name: "letters under towers of marks", words: STACKED },
];

describe.skipIf(CHROMIUM === undefined && process.env["CI"] === undefined)("a page", () => {
  let look: LookBrowser;
  beforeAll(async () => {
    look = await launchLook();
  });
  afterAll(() => look?.close());

  test.for(WORDS)("with $name", async ({ words }) => {
    const scene: NamedScene = {
      ...{ name: "hostile", state: "waiting", number: 1_204, event: { title: words } },
      drip: { notice: words, priceRange: words.slice(0, 100), left: { atMost: 5 } },
    };
    const { page, faults, ...staged } = await stage(look.browser, scene, { locale: "en-GB" });
    const wrong: string[] = [];
    for (const screen of SCREENS) {
      await turnTo(page, screen);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      if (wide > screen.width) wrong.push(`${screen.name}: ${wide} px wide`);
    }
    expect([...wrong, ...faults]).toEqual([]);
    expect(await page.locator("#notice").textContent()).toBe(words);
    expect(await page.locator("#headline").textContent()).toBe("You are in line");
    await staged.close();
  });

  test("each line of a notice runs in its own direction", async () => {
    const scene: NamedScene = {
      ...{ name: "two-ways", state: "paused", number: 1_204 },
      drip: { state: "paused", heldSince: 1, heldReason: "הפסקה קצרה.", notice: "Back soon." },
    };
    const { page, ...staged } = await stage(look.browser, scene, { locale: "en-GB" });
    // Where the full stop of the second line stands: after its words.
    const [stop, letter] = await page.evaluate(() => {
      const [text] = (document.getElementById("notice") as HTMLElement).childNodes;
      const whole = text?.textContent ?? "";
      return [whole.length - 1, whole.length - 2].map((at) => {
        const range = document.createRange();
        range.setStart(text as Text, at);
        range.setEnd(text as Text, at + 1);
        return range.getBoundingClientRect().left;
      });
    });
    expect(stop).toBeGreaterThan(letter ?? Infinity);
    await staged.close();
  });
});

/**
 * Every state of the holding page in a real Chromium, on every screen, compared with pictures that were looked at; and
 * what each of them has to hold besides. `node apps/edge/test/look/main.ts --keep` makes the pictures anew.
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { differenceOf, fromPng } from "./difference.ts";
import { KEPT } from "./look.ts";
import { faultsOf, wear } from "./manners.ts";
import type { Picture } from "./picture.ts";
import { ALL_SCENES, type NamedScene } from "./scenes.ts";
import { byLocale, screensOf, shoot, turnTo } from "./screens.ts";
import { CHROMIUM, type LookBrowser, launchLook, stage } from "./stage.ts";

// Pages of one browser, two at a time.
vi.setConfig({ maxConcurrency: 2 });

const ENGLISH = { locale: "en-GB" };
const CANARIES: readonly { fault: string; css: string }[] = [
  { fault: "a button is not there", css: "#enter button { visibility: hidden }" },
  { fault: "the number has moved by six pixels", css: "#number { translate: 0 6px }" },
  { fault: "the accent is another", css: ":root { --accent: #6e3b0b }" },
  { fault: "the words have another grey", css: ":root { --soft: #a6abb5 }" },
  { fault: "the line is gone", css: "#line { visibility: hidden }" },
  { fault: "the letters are larger by a tenth", css: "html { font-size: 1.17rem }" },
];

function kept(scene: NamedScene, screen: string): Picture | undefined {
  const file = join(KEPT, `${scene.name}.${screen}.png`);
  return existsSync(file) ? fromPng(readFileSync(file)) : undefined;
}

function differenceFrom(picture: Picture | undefined, seen: Picture): string | undefined {
  return picture === undefined ? "is not kept" : differenceOf(picture, seen);
}

describe.skipIf(CHROMIUM === undefined && process.env["CI"] === undefined)("every state", () => {
  let look: LookBrowser;
  beforeAll(async () => {
    look = await launchLook();
  });
  afterAll(() => look?.close());

  test.concurrent.for(ALL_SCENES)(
    "$name: looks as it was kept, can be used by everybody, and meets no error",
    async (scene, context) => {
      const wrong: string[] = [];
      for (const [locale, screens] of byLocale(screensOf(scene))) {
        const { page, faults, ...staged } = await stage(look.browser, scene, { locale });
        context.onTestFinished(() => staged.close());
        for (const screen of screens) {
          await turnTo(page, screen);
          const difference = differenceFrom(kept(scene, screen.name), await shoot(page));
          if (difference !== undefined) wrong.push(`${screen.name}: ${difference}`);
        }
        wrong.push(...faults, ...(await faultsOf(page, { hasScripts: scene.script !== false })));
      }
      expect(wrong).toEqual([]);
    },
  );

  test("no picture is kept of what is no scene any more", () => {
    const files = ALL_SCENES.flatMap((scene) =>
      screensOf(scene).map((screen) => `${scene.name}.${screen.name}.png`),
    );
    expect(readdirSync(KEPT).toSorted()).toEqual(files.toSorted());
  });

  test("canaries: each fault of one scene is seen, and it is well again without", async () => {
    const scene = ALL_SCENES.find(({ name }) => name === "turn")!;
    const { page, ...staged } = await stage(look.browser, scene, ENGLISH);
    onTestFinished(() => staged.close());
    const seen = async () => differenceFrom(kept(scene, "phone"), await shoot(page));
    const unseen: string[] = [];
    for (const { fault, css } of CANARIES) {
      await wear(page, css);
      if ((await seen()) === undefined) unseen.push(fault);
    }
    expect(unseen).toEqual([]);
    await wear(page, "");
    expect(await seen()).toBeUndefined();
  });

  test("half a pixel aside, where every edge is smoothed in another way, it is the same picture", async () => {
    const wrong: unknown[] = [];
    for (const scene of ALL_SCENES.filter(({ everywhere }) => everywhere)) {
      const { page, ...staged } = await stage(look.browser, scene, ENGLISH);
      await wear(page, "header, main, footer { transform: translate(0.5px, 0.5px) }");
      for (const screen of screensOf(scene).slice(0, 2)) {
        await turnTo(page, screen);
        const [picture, seen] = [kept(scene, screen.name), await shoot(page)];
        if (picture?.points.join() === seen.points.join()) wrong.push([scene.name, "is no other"]);
        const difference = differenceFrom(picture, seen);
        if (difference !== undefined) wrong.push([scene.name, screen.name, difference]);
      }
      await staged.close();
    }
    expect(wrong).toEqual([]);
  });
});

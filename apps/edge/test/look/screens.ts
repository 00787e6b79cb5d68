/** What each scene is looked at on. */
import type { Page } from "playwright-core";
import { type Picture, pictureOf } from "./picture.ts";
import type { NamedScene } from "./scenes.ts";

export interface Screen {
  readonly name: string;
  readonly width: number;
  readonly height?: number;
  /** English when absent. */
  readonly locale?: string;
  readonly media?: Parameters<Page["emulateMedia"]>[0];
}

const PHONE: readonly Screen[] = [
  { name: "phone", width: 360 },
  { name: "dark", width: 360, media: { colorScheme: "dark" } },
];
const OTHERS: readonly Screen[] = [
  { name: "small", width: 320, height: 568 },
  { name: "desktop", width: 1_280, height: 800 },
  { name: "forced", width: 360, media: { forcedColors: "active" } },
  { name: "side", width: 640, height: 360 },
  { name: "print", width: 794, height: 1_123, media: { media: "print" } },
  { name: "still", width: 360, media: { reducedMotion: "reduce" } },
];
/** From right to left: a page of its own. */
const ARABIC: Screen = { name: "arabic", width: 360, locale: "ar" };
const AS_EVER = {
  media: "screen",
  colorScheme: "light",
  forcedColors: "none",
  reducedMotion: "no-preference",
} as const;
const SHOTS_MAX = 20;

export function screensOf(scene: NamedScene): readonly Screen[] {
  if (!scene.everywhere) return PHONE;
  // Which of an event's looks a full language has room for is a matter of bytes: other tests'.
  const hasLooks = scene.event?.looks !== undefined;
  return [...PHONE, ...OTHERS, ...(hasLooks ? [] : [ARABIC])];
}

/** Those that one page can show. */
export function byLocale(
  screens: readonly Screen[],
  language = "en-GB",
): ReadonlyMap<string, readonly Screen[]> {
  return Map.groupBy(screens, ({ locale = language }) => locale);
}

export async function turnTo(page: Page, { width, height = 740, media }: Screen): Promise<void> {
  await page.emulateMedia({ ...AS_EVER, ...media });
  await page.setViewportSize({ width, height });
}

/** When two in a row are the same. @throws Error when it does not come to rest */
export async function shoot(page: Page): Promise<Picture> {
  let before: Buffer | undefined;
  for (let shot = 0; shot < SHOTS_MAX; shot += 1) {
    const now = await page.screenshot({ animations: "disabled", caret: "hide", fullPage: true });
    if (before?.equals(now)) return pictureOf(now);
    before = now;
  }
  throw new Error("does not come to rest");
}

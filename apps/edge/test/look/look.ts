/** Looks at all scenes, and keeps what it sees. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { faultsOf } from "./manners.ts";
import { toPng } from "./picture.ts";
import { ALL_SCENES } from "./scenes.ts";
import { byLocale, screensOf, shoot, turnTo } from "./screens.ts";
import { launchLook, stage } from "./stage.ts";

export const KEPT: string = join(import.meta.dirname, "kept");
const SEEN = ".cache/look";

/** @returns what is wrong with the pages, a line each. */
export async function look(options: {
  readonly keep: boolean;
  /** Of all screens that have none of their own. */
  readonly language: string;
  /** Parts of the names of scenes; all when empty. */
  readonly wanted: readonly string[];
}): Promise<readonly string[]> {
  const folder = options.keep ? KEPT : SEEN;
  mkdirSync(folder, { recursive: true });
  const looking = await launchLook();
  const faults: string[] = [];
  const written = new Set<string>();
  let bytes = 0;
  const { wanted } = options;
  const isWanted = (name: string) =>
    wanted.length === 0 || wanted.some((part) => name.includes(part));
  for (const scene of ALL_SCENES.filter(({ name }) => isWanted(name))) {
    const say = (found: readonly string[]) =>
      faults.push(...found.map((fault) => `${scene.name}: ${fault}`));
    for (const [locale, screens] of byLocale(screensOf(scene), options.language)) {
      const staged = await stage(looking.browser, scene, { locale });
      for (const screen of screens) {
        await turnTo(staged.page, screen);
        const png = options.keep
          ? toPng(await shoot(staged.page))
          : await staged.page.screenshot({ animations: "disabled", fullPage: true });
        const file = `${scene.name}.${screen.name}.png`;
        written.add(file);
        bytes += png.length;
        writeFileSync(join(folder, file), png);
      }
      say(await faultsOf(staged.page, { hasScripts: scene.script !== false }));
      say(staged.faults);
      await staged.close();
    }
  }
  await looking.close();
  if (wanted.length === 0) {
    for (const file of readdirSync(folder)) {
      if (!written.has(file)) rmSync(join(folder, file));
    }
  }
  console.log(`${folder}: ${written.size} pictures, ${bytes} bytes, ${faults.length} faults`);
  return faults;
}

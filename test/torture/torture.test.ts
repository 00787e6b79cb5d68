/** The short version: a sale in real processes through ten faults. `pnpm torture` is the long one. */
import { runRandomness } from "@vestibule/testkit/run-seed";
import { expect, it } from "vitest";

import { torture } from "./torture.ts";

const FAULTS = 10;
const MINUTES_3 = 180_000;

it(
  `${FAULTS} kills, stops, cuts and restarts under load: every law holds by what clients saw, and when it is calm everybody is let in or told why`,
  { timeout: MINUTES_3 },
  async () => {
    const { seed } = runRandomness();
    const lines: string[] = [`torture: ${FAULTS} faults from seed ${seed}`];
    const { violations, checked, faults } = await torture({
      ...{ seed, faults: FAULTS },
      withinMs: MINUTES_3,
      pace: { min: 400, max: 2_400 },
      lastsMsMax: 9_000,
      rush: 80,
      fansPerSecond: 5,
      say: (line) => lines.push(line),
    });
    // What was done, and when, is told beside what it did.
    expect(violations.length === 0 ? [] : [...violations, ...lines]).toEqual([]);
    expect([...faults.values()].reduce((sum, count) => sum + count, 0)).toBe(FAULTS);
    // It saw something: each law had cases.
    const seen = [
      "tickets shown again",
      "slots",
      "forged admissions shown",
      "orders answered again",
      "times without a mint",
      "fans who went in meanwhile",
    ];
    expect(seen.filter((name) => (checked[name] ?? 0) === 0)).toEqual([]);
  },
);

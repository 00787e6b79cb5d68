/** Plays sales with the real controller, and compares what pages would have announced with what came true. */
import { etaRange, type EtaRange } from "@vestibule/drip/estimate";
import { slotOf } from "@vestibule/drip/line";
import { VirtualLine } from "@vestibule/mint/test/support/virtual-line.ts";
import { SeededRandomness } from "@vestibule/testkit/seeded-randomness";
import { type Scenario, STEP_MS } from "./scenarios.ts";

/** Minutes that the line takes at its rate when everybody comes: so long do the last ones wait. */
const LINE_MINUTES = 20;
const FANS = 40;
const RATES = { min: 60, max: 900 };

/** What a page said, and what came true. Milliseconds from when it was said. */
export interface Announcement extends EtaRange {
  readonly turnMs: number;
  /** Something that nobody had announced happened between the saying and the turn. */
  readonly isOvertaken: boolean;
}

export type Estimate = typeof etaRange;

/** One sale: whoever waits looks every quarter of a minute, until their slot is committed. */
export async function announcementsOf(
  scenario: Scenario,
  seed: number,
  estimate: Estimate = etaRange,
): Promise<readonly Announcement[]> {
  const random = new SeededRandomness(seed);
  const rate = random.integer(RATES);
  const waiting = rate * LINE_MINUTES;
  const line = await VirtualLine.start(
    { ratePerMinute: rate, ...scenario.settings?.(rate) },
    { seed, waiting, noShowPercent: (n) => scenario.noShow(n / waiting) },
    (start) => scenario.plan?.(start, rate) ?? [],
  );
  const begun = line.clock.now();
  const fans = Array.from({ length: FANS }, (_, index) =>
    Math.ceil((waiting * (index + 1)) / FANS),
  );
  const said: { n: number; at: number; range: EtaRange }[] = [];
  const deeds = [...(scenario.happens ?? [])];
  const broken: number[] = [];
  let owed = 0;
  await line.tick();
  for (let step = 0; line.line.record.progress.line.nextNumber <= waiting; step += 1) {
    if (step * STEP_MS > 3 * LINE_MINUTES * 60_000)
      throw new Error(`the line stands, seed ${seed}`);
    const passed = line.clock.now() - begun;
    if (deeds[0] !== undefined && passed >= deeds[0].at * LINE_MINUTES * 60_000) {
      if (!scenario.isCalm) broken.push(line.clock.now());
      await deeds.shift()?.what(line, rate);
    }
    const due = Math.floor(
      ((line.line.record.progress.line.nextNumber - 1) * (scenario.owedPercent ?? 0)) / 100,
    );
    if (due > owed) await line.oweSlots(line.missed.splice(0, due - owed));
    owed = due;
    const view = line.statement();
    const now = line.clock.now();
    for (const n of fans) {
      if (n <= view.committed) continue;
      const range = estimate(n, view, now);
      if (range !== undefined) said.push({ n, at: now, range });
    }
    await line.pass(STEP_MS);
  }
  // The first one: whoever is owed another has had theirs.
  const segments = line.commitments().map(({ segment }) => segment);
  const turnOf = (n: number): number | undefined =>
    segments.map((segment) => slotOf([segment], n)).find((opens) => opens !== undefined);
  const turns = new Map(fans.map((n) => [n, turnOf(n)]));
  return said.flatMap(({ n, at, range }) => {
    const turn = turns.get(n);
    if (turn === undefined) return [];
    const isOvertaken = broken.some((moment) => at <= moment && moment < turn);
    return [{ ...range, turnMs: turn - at, isOvertaken }];
  });
}

export interface Accuracy {
  readonly announcements: number;
  /** Of all, per cent. */
  readonly within: number;
  /** Of those that nothing unannounced has overtaken, per cent; `undefined`: there were none. */
  readonly withinCalm: number | undefined;
  /** Upper end minus lower end over the true wait, in the middle of all announcements, per cent. */
  readonly width: number;
  /** Of those outside: by how much in the worst twentieth, per cent of the true wait. */
  readonly off: number;
}

export function accuracyOf(all: readonly Announcement[]): Accuracy {
  const inside = (list: readonly Announcement[]) =>
    (100 *
      list.filter(({ turnMs, fromMs, untilMs }) => fromMs <= turnMs && turnMs <= untilMs).length) /
    list.length;
  const calm = all.filter(({ isOvertaken }) => !isOvertaken);
  const share = (part: number, { turnMs }: Announcement) => (100 * part) / Math.max(1_000, turnMs);
  const offs = all
    .map((one) => share(Math.max(one.fromMs - one.turnMs, one.turnMs - one.untilMs), one))
    .filter((off) => off > 0);
  return {
    announcements: all.length,
    within: inside(all),
    withinCalm: calm.length === 0 ? undefined : inside(calm),
    width: quantile(
      all.map((one) => share(one.untilMs - one.fromMs, one)),
      0.5,
    ),
    off: offs.length === 0 ? 0 : quantile(offs, 0.95),
  };
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

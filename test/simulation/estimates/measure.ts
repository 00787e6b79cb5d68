/** Plays sales with the real controller, and compares what pages would have announced with what came true. */
import type { DripClaims } from "@vestibule/contracts/statements";
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

/** What a fan is told who looks: `undefined`, nothing. */
export type Estimate = (n: number, view: DripClaims, now: number) => EtaRange | undefined;

/** One sale: whoever waits looks every quarter of a minute, until their slot is committed. */
export async function announcementsOf(
  scenario: Scenario,
  seed: number,
  estimate: Estimate = etaRange,
): Promise<readonly Announcement[]> {
  const said: { n: number; at: number; range: EtaRange }[] = [];
  const { turns, broken } = await playSale(scenario, seed, (n, view, at) => {
    const range = estimate(n, view, at);
    if (range !== undefined) said.push({ n, at, range });
  });
  return said.flatMap(({ n, at, range }) => {
    const turn = turns.get(n);
    if (turn === undefined) return [];
    const isOvertaken = broken.some((moment) => at <= moment && moment < turn);
    return [{ ...range, turnMs: turn - at, isOvertaken }];
  });
}

interface Played {
  /** When the first slot of each fan opened; epoch milliseconds. */
  readonly turns: ReadonlyMap<number, number>;
  /** When something unannounced happened. */
  readonly broken: readonly number[];
}

/** @param look called for each fan who waits, as often as fans look */
async function playSale(
  scenario: Scenario,
  seed: number,
  look: (n: number, view: DripClaims, now: number) => void,
): Promise<Played> {
  const rate = new SeededRandomness(seed).integer(RATES);
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
  const deeds = [...(scenario.happens ?? [])];
  const broken: number[] = [];
  let owed = 0;
  const next = (): number => line.line.record.progress.line.nextNumber;
  await line.tick();
  while (next() <= waiting) {
    const passed = (line.clock.now() - begun) / (LINE_MINUTES * 60_000);
    if (passed > 3) throw new Error(`the line stands, seed ${seed}`);
    if (deeds[0] !== undefined && passed >= deeds[0].at) {
      if (!scenario.isCalm) broken.push(line.clock.now());
      await deeds.shift()?.what(line, rate);
    }
    const due = Math.floor(((next() - 1) * (scenario.owedPercent ?? 0)) / 100);
    if (due > owed) await line.oweSlots(line.missed.splice(0, due - owed));
    owed = due;
    const view = line.statement();
    for (const n of fans) if (n > view.committed) look(n, view, line.clock.now());
    await line.pass(STEP_MS);
  }
  return { turns: turnsOf(line, fans), broken };
}

/** The first slot of each: whoever is owed another has had theirs. */
function turnsOf(line: VirtualLine, fans: readonly number[]): ReadonlyMap<number, number> {
  const segments = line.commitments().map(({ segment }) => segment);
  const turns = fans.flatMap((n) => {
    const opens = segments.map((segment) => slotOf([segment], n)).find((at) => at !== undefined);
    return opens === undefined ? [] : [[n, opens] as const];
  });
  return new Map(turns);
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

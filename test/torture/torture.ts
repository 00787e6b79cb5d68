/** One run: a world, a crowd, the faults, the calm after them, and what the checks say. */
import { monitorEventLoopDelay } from "node:perf_hooks";

import { eventually } from "../e2e/support/eventually.ts";
import { Crowd } from "./clients/crowd.ts";
import { KeyRotation } from "./clients/key-rotation.ts";
import { Watcher } from "./clients/watcher.ts";
import { Faults } from "./faults.ts";
import { judge, type Verdict } from "./laws/verdict.ts";
import { planFaults } from "./plan.ts";
import { Trace } from "./trace.ts";
import { readBooks } from "./world/books.ts";
import { startWorld, type World } from "./world/world.ts";

export interface TortureOptions {
  readonly seed: number;
  readonly faults: number;
  /** No fault begins after it, milliseconds from the first one. */
  readonly withinMs: number;
  /** Milliseconds between the beginnings of two faults. */
  readonly pace: { readonly min: number; readonly max: number };
  /** None lasts longer. */
  readonly lastsMsMax?: number;
  readonly rush: number;
  readonly fansPerSecond: number;
  /** A directory for the logs of the processes; without it they are not kept. */
  readonly logs?: string | undefined;
  readonly say: (line: string) => void;
}

export interface TortureReport extends Verdict {
  /** Those that were brought, by kind. */
  readonly faults: ReadonlyMap<string, number>;
  readonly endings: Readonly<Record<string, number>>;
  readonly answers: ReadonlyMap<string, number>;
  /** Errors in the logs of the processes, by message; outages explain most. */
  readonly logged: ReadonlyMap<string, number>;
  readonly failedStarts: number;
  /** How late our own timers were at worst: beyond a second, faults and clients were not what they should be. */
  readonly latestTimerMs: number;
}

const MINTS = 3;
const PURCHASES = 2;
const EDGES = 2;
const TERMS = {
  event: "torture",
  ratePerMinute: 600,
  horizonSeconds: 10,
  lifetimeSeconds: 120,
  claimWindowSeconds: 20,
  overdrivePercent: 150,
};
const SKUS = { scarce: "front-row", plenty: "seat" };
const STOCK = { [SKUS.scarce]: 30, [SKUS.plenty]: 1_000_000 };
/** After the last fault, besides the time that the line itself takes. */
const CALM_MS = 45_000;
const LEADS_MS = 1_000;
/** Before the first fault so many fans hold admissions for slots that open so much later, or more. */
const AHEAD_MIN = 5;
const AHEAD_MS = 2_000;
const SILENCE_TOLD_MS = 3_000;

/** @throws Error when the world does not start. */
export async function torture(options: TortureOptions): Promise<TortureReport> {
  const trace = new Trace();
  const world = await startWorld({
    mints: MINTS,
    purchases: PURCHASES,
    edges: EDGES,
    event: TERMS,
    stock: STOCK,
    logs: options.logs,
    onTrouble: (trouble) => trace.troubles.push(trouble),
  });
  try {
    return await run(world, trace, options);
  } finally {
    await world.stop();
  }
}

async function run(world: World, trace: Trace, options: TortureOptions): Promise<TortureReport> {
  const { seed, pace, withinMs } = options;
  const began = Date.now();
  const lateness = monitorEventLoopDelay({ resolution: 20 });
  lateness.enable();
  const say = (line: string): void =>
    options.say(`${((Date.now() - began) / 1_000).toFixed(1).padStart(6)} s  ${line}`);
  let answeredAt = began;
  const onAnswer = (at: number): void => {
    const silentMs = at - answeredAt;
    answeredAt = Math.max(answeredAt, at);
    if (silentMs >= SILENCE_TOLD_MS) say(`a mint answers again, after ${silentMs} ms`);
  };
  const mints = world.mints.map(({ process }) => {
    const url = (): string | undefined =>
      process.url === undefined ? undefined : `${process.url}/v1/events/${TERMS.event}/drip`;
    return new Watcher({ source: process.name, trace, url, onAnswer }).start();
  });
  const locations = world.apps.map((app, index) => {
    const name = `edge ${index + 1}`;
    const url = (): string => app.endpoint("drip");
    return { name, app, drip: new Watcher({ source: name, trace, url }).start() };
  });
  const watchers = [...mints, ...locations.map(({ drip }) => drip)];
  const { rush, fansPerSecond: perSecond } = options;
  const crowd = new Crowd({ seed, rush, perSecond, locations, trace, skus: SKUS });
  crowd.start();

  const rotation = new KeyRotation({
    mints: () => world.mints.flatMap(({ process: { url } }) => url ?? []),
    adminToken: world.adminToken,
    say,
  });
  rotation.start();
  const hasStore = world.store !== undefined;
  if (!hasStore) say("there is no valkey-server and no redis-server on PATH: no faults of a store");
  const plan = planFaults({
    ...{ seed, faults: options.faults, pace, hasStore },
    lastsMsMax: options.lastsMsMax,
    mints: MINTS,
    purchases: PURCHASES,
  });
  await eventually("some fans hold admissions for slots ahead", () => {
    const soon = Date.now() + AHEAD_MS;
    return trace.claimed.filter(({ opensAt }) => opensAt > soon).length >= AHEAD_MIN;
  });
  const faults = new Faults({ world, trace, say, leader: () => leaderOf(mints) });
  await faults.bring(plan, () => Date.now() - began < withinMs);
  say(`no more faults; ${crowd.present} of ${crowd.count} fans are not through yet`);
  await crowd.end(CALM_MS + (crowd.present * 60_000) / TERMS.ratePerMinute);
  for (const client of [rotation, ...watchers]) await client.stop();
  say("everybody is through or out of patience");

  const books = await readBooks(world, TERMS.event);
  const terms = {
    ...TERMS,
    horizonMs: TERMS.horizonSeconds * 1_000,
    claimWindowMs: TERMS.claimWindowSeconds * 1_000,
    mints: world.mints.map(({ process }) => process.name),
  };
  const processes = [...world.mints, ...world.purchases].map(({ process }) => process);
  return {
    ...judge(trace, books, terms),
    faults: faults.done,
    endings: counted(trace.endings.map(({ ending }) => ending)),
    answers: trace.answers,
    logged: summed(processes.map(({ errors }) => errors)),
    latestTimerMs: Math.round(lateness.max / 1_000_000),
    failedStarts: processes.reduce((sum, { failedStarts }) => sum + failedStarts, 0),
  };
}

/** The one that answered last, if that was just now. */
function leaderOf(mints: readonly Watcher[]): number | undefined {
  const latest = Math.max(...mints.map(({ answeredAt }) => answeredAt));
  if (Date.now() - latest > LEADS_MS) return undefined;
  return mints.findIndex(({ answeredAt }) => answeredAt === latest);
}

function counted(words: readonly string[]): Readonly<Record<string, number>> {
  const groups = Object.groupBy(words, (word) => word);
  return Object.fromEntries(
    Object.entries(groups).map(([word, those]) => [word, those?.length ?? 0]),
  );
}

function summed(maps: readonly ReadonlyMap<string, number>[]): ReadonlyMap<string, number> {
  const sum = new Map<string, number>();
  for (const [word, count] of maps.flatMap((map) => [...map])) {
    sum.set(word, (sum.get(word) ?? 0) + count);
  }
  return sum;
}

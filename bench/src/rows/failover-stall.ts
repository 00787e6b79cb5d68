import { setTimeout as wait } from "node:timers/promises";

import { type Entry, FrontFans } from "../failover/front-fans.ts";
import { killLeader, startFront } from "../failover/front-world.ts";
import type { Bench, Measured, Row } from "../row.ts";

const RATE_PER_MINUTE = 600;
const SPACING_MS = 60_000 / RATE_PER_MINUTE;
/** The shortest that an event may have: the kill has the least room. */
const HORIZON_SECONDS = 10;
/** The horizon is full, and everybody in it has claimed. */
const BEFORE_MS = 6_000;
/** What was committed before the kill has opened, and what the next leader committed follows. */
const WATCHED_MS = 14_000;
/** Whoever asks for an entry has the answer by then, on a machine that is busy as well. */
const ANSWER_MS = 1_000;
/** Enough that the line is busy to the end, behind the horizon too. */
const FANS = ((BEFORE_MS + WATCHED_MS) / 1_000 + 2 * HORIZON_SECONDS) * (RATE_PER_MINUTE / 60);

export const failoverStall: Row = {
  name: "failover-stall",
  what: "longest pause between the turns of fans at the front who get in at once, while the leading mint is killed (SIGKILL)",
  floor: "the same without a kill, and the spacing of slots; a stall is what is beyond it",
  unit: "ms",
  atLeast: 1,
  timeoutMs: 180_000,
  measure,
};

interface Side {
  /** Longest time between the openings of two slots whose fans got in when they first asked. */
  readonly pauseMs: number;
  /** From the opening of a slot until its fan was in, at worst. */
  readonly lateMs: number;
  readonly entered: number;
  readonly takeoverMs: number;
  /** How many joins were refused, and how long after the kill the last one was. */
  readonly refused: { readonly count: number; readonly lastMs: number };
}

async function measure(bench: Bench): Promise<Measured> {
  const calm = await play(bench, { name: "calm", kills: false });
  await bench.processes.stopAll();
  const killed = await play(bench, { name: "killed", kills: true });
  const floor = calm.pauseMs + SPACING_MS;
  const stalledMs = Math.max(0, killed.pauseMs - floor);
  return {
    candidate: killed.pauseMs,
    floor,
    ratio: floor / killed.pauseMs,
    misses: [
      ...(killed.lateMs <= calm.lateMs + ANSWER_MS
        ? []
        : [`somebody got in ${killed.lateMs} ms behind their time`]),
      ...(killed.refused.count > 0 ? [] : ["the kill was no outage: nobody was refused"]),
    ],
    notes: [
      `stalled ${(stalledMs / 1_000).toFixed(1)} s; the standby led ${killed.takeoverMs.toFixed(0)} ms after the kill, with a horizon of ${HORIZON_SECONDS} s`,
      `${killed.entered} got in from the kill on, ${calm.entered} in the same time without one; from the opening of the slot it took ${killed.lateMs} ms, and ${calm.lateMs} ms, at worst`,
      `meanwhile ${killed.refused.count} joins were told to come back, the last one ${killed.refused.lastMs} ms after the kill`,
    ],
  };
}

async function play(
  bench: Bench,
  { name, kills }: { name: string; kills: boolean },
): Promise<Side> {
  const line = { name, ratePerMinute: RATE_PER_MINUTE, horizonSeconds: HORIZON_SECONDS };
  const world = await startFront(bench, line);
  const fans = new FrontFans(world);
  bench.progress(`${name}: ${FANS} fans join`);
  await fans.join(FANS);
  fans.start();
  bench.progress(`${name}: the horizon fills`);
  await wait(BEFORE_MS);
  const from = Date.now();
  bench.progress(`${name}: ${kills ? "the leader is killed" : "nothing happens"}`);
  const [takeoverMs] = await Promise.all([kills ? killLeader(world) : 0, wait(WATCHED_MS)]);
  await fans.stop();
  // Whose turn came last may still have been on the way.
  const until = from + WATCHED_MS - ANSWER_MS;
  const seen = fans.entries.filter(({ opensAt }) => opensAt >= from && opensAt < until);
  const refused = fans.joins.filter(({ askedAt, status }) => askedAt >= from && status !== 201);
  return {
    pauseMs: longestPause(seen, { from, until }),
    lateMs: Math.max(...seen.map(({ opensAt, enteredAt }) => enteredAt - opensAt)),
    entered: seen.length,
    takeoverMs,
    refused: {
      count: refused.length,
      lastMs: Math.max(0, ...refused.map(({ askedAt }) => askedAt - from)),
    },
  };
}

function longestPause(
  seen: readonly Entry[],
  { from, until }: { from: number; until: number },
): number {
  const turns = seen.filter(({ asks }) => asks === 1).map(({ opensAt }) => opensAt);
  const times = [from, ...turns, until].toSorted((a, b) => a - b);
  return Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)));
}

/** Faults of ours that the laws must catch, each in the simulated world alone, each within so many sales. */
import { epochMs } from "@vestibule/kernel/units";
import {
  type EventChange,
  LeaseLostError,
  type MintStore,
} from "@vestibule/mint/src/store/store.ts";
import { FAULT_KINDS, type FaultKind } from "./plan.ts";
import type { Sabotage } from "./sabotage.ts";

export interface Canary {
  readonly name: string;
  readonly sabotage: Sabotage;
  /** What the first broken law must say. */
  readonly caughtBy: RegExp;
  readonly salesMax: number;
  readonly faults: readonly FaultKind[];
}

/** Whatever makes two leaders at once. */
const TWO_LEADERS: readonly FaultKind[] = ["stall", "cut-database", "slow-database", "weather"];
const NO_FAILOVER: readonly FaultKind[] = FAULT_KINDS.filter(
  (kind) => kind !== "fail-over" && kind !== "forget-leader",
);

export const CANARIES: readonly Canary[] = [
  {
    name: "numbers are allocated without the epoch check",
    sabotage: {
      // The gap behind a takeover would hide it, as it is there to do.
      gapNumbers: 0,
      store: (store) => ({
        ...store,
        reserveNumbers: (lead, request) =>
          store.reserveNumbers(lead, request).catch((error: unknown) => {
            if (!(error instanceof LeaseLostError)) throw error;
          }),
      }),
    },
    caughtBy: /law 1/,
    salesMax: 300,
    faults: TWO_LEADERS,
  },
  {
    name: "a block of numbers is used before it is committed",
    sabotage: {
      gapNumbers: 0,
      store: (store) => ({
        ...store,
        reserveNumbers: (lead, request) => {
          store.reserveNumbers(lead, request).catch(() => {});
          return Promise.resolve();
        },
      }),
    },
    caughtBy: /law 1/,
    salesMax: 300,
    faults: NO_FAILOVER,
  },
  {
    name: "a database that forgot a leader is led on from there",
    sabotage: {
      hidesHistory: true,
      store: (store) => ({
        ...store,
        acquireLease: ({ known: _seen, ...request }) => store.acquireLease(request),
      }),
    },
    caughtBy: /law 1|law 2|statement \d+ is signed twice/,
    salesMax: 100,
    faults: ["forget-leader"],
  },
  {
    name: "the drip catches up after a stall",
    sabotage: { store: catchingUp },
    caughtBy: /law 3/,
    salesMax: 50,
    faults: NO_FAILOVER,
  },
  {
    name: "what is given back, or made up for by a budget, is not counted off",
    sabotage: { store: givingTwice },
    caughtBy: /law 3: (?:slot \d+: \S+ beyond the rate|segment at \d+: \S+ given back)/,
    salesMax: 100,
    faults: NO_FAILOVER,
  },
  {
    name: "a process that was stopped commits what it had decided before",
    sabotage: {
      store: (store) => ({
        ...store,
        step: (lead, { isFresh: _ignored, ...request }) => store.step(lead, request),
      }),
    },
    caughtBy: /law 3: slots are committed \d+ ms after they were decided/,
    salesMax: 500,
    faults: ["stall", "slow-database", "weather"],
  },
  {
    name: "a claim is answered before it is committed",
    sabotage: {
      store: (store) => ({
        ...store,
        recordClaims: (lead, request) => {
          store.recordClaims(lead, request).catch(() => {});
          return Promise.resolve(new Set([...request.fresh, ...request.again].map(({ n }) => n)));
        },
      }),
    },
    caughtBy: /before its claim is on disk/,
    salesMax: 20,
    faults: NO_FAILOVER,
  },
  {
    name: "the serving number falls",
    sabotage: {
      tokens: (tokens, random) => ({
        ...tokens,
        drip: (claims) =>
          tokens.drip({ ...claims, serving: random.integer({ min: 0, max: claims.serving }) }),
      }),
    },
    caughtBy: /law 2: the serving number falls/,
    salesMax: 20,
    faults: NO_FAILOVER,
  },
  {
    name: "a spent admission is not looked for",
    sabotage: { forgetsSpends: true },
    caughtBy: /law 4/,
    salesMax: 50,
    faults: NO_FAILOVER,
  },
  {
    name: "a page says that its fan is there, and nobody has pressed",
    sabotage: { pagesPress: true },
    caughtBy: /presence: \d+ is admitted, and nobody has said that they are there/,
    salesMax: 50,
    faults: NO_FAILOVER,
  },
  {
    name: "a location takes an admission a minute after its time",
    sabotage: { skewSeconds: 60 },
    caughtBy: /law 5: location-\d takes a bad admission/,
    salesMax: 100,
    faults: NO_FAILOVER,
  },
];

/** What was missed while nothing was committed is released as well: slots from where the last ones ended. */
function catchingUp(store: MintStore): MintStore {
  return {
    ...store,
    step: async (lead, request) => {
      const before = await store.loadEvent(request.event);
      const frontier = before?.progress.line.frontier ?? 0;
      return store.step(lead, {
        ...request,
        decide: (claimed) => caughtUp(request.decide(claimed), frontier),
      });
    },
  };
}

/** A credit that was spent is there again. */
function givingTwice(store: MintStore): MintStore {
  return {
    ...store,
    step: async (lead, request) => {
      const before = (await store.loadEvent(request.event))?.progress.line.giveBackMicro ?? 0;
      return store.step(lead, {
        ...request,
        decide: (claimed) => {
          const change = request.decide(claimed);
          const { progress } = change;
          if (progress === undefined) return change;
          const giveBackMicro = Math.max(before, progress.line.giveBackMicro);
          return {
            ...change,
            progress: { ...progress, line: { ...progress.line, giveBackMicro } },
          };
        },
      });
    },
  };
}

function caughtUp(change: EventChange, frontier: number): EventChange {
  const [first] = change.segments ?? [];
  if (first === undefined || frontier === 0 || change.segments === undefined) return change;
  const earlier = first.from - frontier;
  const { progress } = change;
  const moved = {
    ...change,
    segments: change.segments.map((segment) => ({
      ...segment,
      from: epochMs(segment.from - earlier),
      until: epochMs(segment.until - earlier),
    })),
  };
  if (progress === undefined) return moved;
  const line = { ...progress.line, frontier: epochMs(progress.line.frontier - earlier) };
  return { ...moved, progress: { ...progress, line } };
}

import { type Accuracy, accuracyOf, WINDOW_MS } from "../drip/accuracy.ts";
import { VirtualLine } from "@vestibule/mint/test/support/virtual-line.ts";
import type { Bench, Measured, Row } from "../row.ts";

/** No divisor of anything: roundings show. */
const RATE = 7_001;
const MINUTE_MS = 60_000;
const SALE_MS = 10 * MINUTE_MS;
const HORIZON_MS = 60_000;
const WAITING = 200_000;
const LEAST = 0.995;
const LAW = (RATE * WINDOW_MS) / MINUTE_MS;

type Down = (readonly [from: number, until: number])[];

interface Mix {
  readonly name: string;
  readonly noShowPercent?: number;
  /** Plays ten minutes. Says when something was down that the horizon does not cover. */
  readonly play: (line: VirtualLine, down: Down) => Promise<void>;
  readonly plan?: (start: number) => { at: number; ratePerMinute: number; ramp?: boolean }[];
}

/** Stands still, as a process that is stopped or a database that is away. */
async function stall(line: VirtualLine, ms: number, down: Down): Promise<void> {
  const { frontier } = line.line.record.progress.line;
  line.clock.advance(ms);
  await line.tick();
  if (line.clock.now() > frontier) down.push([frontier, line.clock.now()]);
}

async function held(line: VirtualLine, ms: number, down: Down): Promise<void> {
  const since = line.clock.now();
  await line.hold();
  await line.pass(ms);
  await line.resume();
  down.push([since, line.clock.now()]);
}

const CALM: Mix = { name: "nothing down", play: (line) => line.pass(SALE_MS) };
const FAULTS: readonly Mix[] = [
  { name: "three in ten do not show up", noShowPercent: 30, play: (line) => line.pass(SALE_MS) },
  {
    name: "stalls of 5, 45, 90 and 120 s",
    play: async (line, down) => {
      for (const seconds of [5, 45, 90, 120]) {
        await line.pass(70_000);
        await stall(line, seconds * 1_000, down);
      }
      await line.pass(70_000);
    },
  },
  {
    name: "the clock is set forward and back, by 20 to 50 s",
    play: async (line) => {
      for (const seconds of [30, -40, 50, -20]) {
        await line.pass(100_000);
        line.clock.advance(seconds * 1_000);
      }
      await line.pass(200_000);
    },
  },
  {
    name: "eight leaders die, one in ten does not show up",
    noShowPercent: 10,
    play: async (line) => {
      for (let round = 0; round < 8; round += 1) {
        await line.pass(62_000);
        await line.crash();
      }
      await line.pass(80_000);
    },
  },
  {
    name: "holds and a stall under a plan with ramps",
    noShowPercent: 20,
    plan: (start) => [
      { at: start + 2 * MINUTE_MS, ratePerMinute: 7_001, ramp: true },
      { at: start + 5 * MINUTE_MS, ratePerMinute: 18_000 },
      { at: start + 7 * MINUTE_MS, ratePerMinute: 9_000 },
    ],
    play: async (line, down) => {
      for (const seconds of [20, 45]) {
        await line.pass(110_000);
        await held(line, seconds * 1_000, down);
      }
      await line.pass(100_000);
      await stall(line, 75_000, down);
      await line.pass(120_000);
    },
  },
];

export const dripAccuracy: Row = {
  name: "drip-accuracy",
  what: `slots in the emptiest 10 s of a sale of 10 minutes at ${RATE.toLocaleString("en")} a minute, nothing down; and of 5 with faults`,
  floor: "what the rate gives in 10 s; no window of any sale has more than the law allows",
  unit: "slots",
  atLeast: LEAST,
  timeoutMs: 120_000,
  measure,
};

async function measure(bench: Bench): Promise<Measured> {
  const played: { readonly name: string; readonly accuracy: Accuracy }[] = [];
  for (const [index, mix] of [CALM, ...FAULTS].entries()) {
    bench.progress(`a sale with ${mix.name}`);
    played.push({ name: mix.name, accuracy: await play(mix, index + 1) });
  }
  const least = Math.min(...played.map(({ accuracy }) => accuracy.leastShare));
  return {
    candidate: least * LAW,
    floor: LAW,
    ratio: least,
    notes: played.map(
      ({ name, accuracy: { windows, above, leastShare } }) =>
        `${name}: of ${windows.toLocaleString("en")} windows ${above} above the law; where nothing is down, the emptiest has ${(leastShare * 100).toFixed(2)} % of its rate`,
    ),
    misses: played
      .filter(({ accuracy }) => accuracy.above > 0)
      .map(({ name, accuracy }) => `${name}: ${accuracy.above} windows above the law`),
  };
}

async function play(mix: Mix, seed: number): Promise<Accuracy> {
  const { noShowPercent = 0 } = mix;
  const settings = { ratePerMinute: RATE, horizonSeconds: HORIZON_MS / 1_000 };
  const line = await VirtualLine.start(
    settings,
    { seed, waiting: WAITING, noShowPercent },
    mix.plan,
  );
  const down: Down = [];
  await line.tick();
  await mix.play(line, down);
  const commitments = line.commitments();
  const { overdrivePercent } = line.settings;
  const from = commitments[0]?.segment.from ?? 0;
  const until = line.line.record.progress.line.frontier;
  return accuracyOf({ commitments, rates: line.settings, overdrivePercent, down, from, until });
}

/** Sales over which estimates are measured: what happens in them, and whether the line was told of it. */
import type { Growth } from "@vestibule/client/honesty";
import type { EventSettings } from "@vestibule/contracts/event-settings";
import type { VirtualLine } from "@vestibule/mint/test/support/virtual-line.ts";

const MINUTE_MS = 60_000;
/** So many of a hundred turns come within the range that was said, in every kind of calm sale below (docs/estimates.md). */
export const CONFIDENCE_PERCENT = 95;
/** Between two looks of a page, and of the measurement. */
export const STEP_MS = 15_000;

export interface Scenario {
  readonly name: string;
  /** Nothing happens that nobody could know: here the stated confidence holds. */
  readonly isCalm: boolean;
  /** Of the fan at this share (0 to 1) of the line, per cent. */
  readonly noShow: (share: number) => number;
  readonly settings?: (rate: number) => Partial<EventSettings>;
  readonly plan?: (start: number, rate: number) => EventSettings["ratePlan"];
  /** What the organizer, or misfortune, does at a share of the time that the line takes at its rate. */
  readonly happens?: readonly {
    readonly at: number;
    readonly what: (line: VirtualLine, rate: number) => Promise<void>;
  }[];
  /** The reason that three in four are given whose wait grows; absent: hardly any wait does. */
  readonly expected?: readonly Growth[];
  /** Of a hundred who come, so many are owed another slot: faults of ours that are made good. */
  readonly owedPercent?: number;
}

const steady = (percent: number): Scenario => ({
  name: percent === 0 ? "everybody comes" : `${percent} % do not come`,
  isCalm: true,
  noShow: () => percent,
});

export const SCENARIOS: readonly Scenario[] = [
  ...[0, 10, 20, 30, 45, 60].map(steady),
  {
    name: "from 5 % in front to 35 % at the back do not come",
    isCalm: true,
    noShow: (share) => 5 + 30 * share,
  },
  {
    name: "from 50 % in front to 15 % at the back do not come",
    isCalm: true,
    noShow: (share) => 50 - 35 * share,
  },
  {
    name: "a plan with a step, a ramp and a fall; 20 % do not come",
    isCalm: true,
    noShow: () => 20,
    plan: (start, rate) => [
      { at: start + 3 * MINUTE_MS, ratePerMinute: Math.ceil(rate * 1.5) },
      { at: start + 8 * MINUTE_MS, ratePerMinute: rate, ramp: true },
      { at: start + 14 * MINUTE_MS, ratePerMinute: Math.ceil(rate * 0.6) },
    ],
  },
  {
    name: "a budget of two minutes; 15 % do not come",
    isCalm: true,
    noShow: () => 15,
    settings: (rate) => ({ approximationBudget: 2 * rate }),
  },
  {
    name: "nothing is given back (overdrive 100 %); 20 % do not come",
    isCalm: true,
    noShow: () => 20,
    settings: () => ({ overdrivePercent: 100 }),
  },
  {
    name: "overdrive 300 %; 40 % do not come",
    isCalm: true,
    noShow: () => 40,
    settings: () => ({ overdrivePercent: 300 }),
  },
  {
    name: "3 % are served again for a fault of ours; 15 % do not come",
    isCalm: true,
    noShow: () => 15,
    owedPercent: 3,
  },
  {
    name: "the leader dies three times; 10 % do not come",
    isCalm: true,
    noShow: () => 10,
    happens: [0.2, 0.5, 0.8].map((at) => ({ at, what: (line) => line.crash() })),
  },
  {
    name: "unannounced: the rate is halved in the middle; 20 % do not come",
    isCalm: false,
    expected: ["slower"],
    noShow: () => 20,
    happens: [
      { at: 0.4, what: (line, rate) => line.change({ ratePerMinute: Math.ceil(rate / 2) }) },
    ],
  },
  {
    name: "unannounced: the rate is doubled in the middle; 20 % do not come",
    isCalm: false,
    noShow: () => 20,
    happens: [{ at: 0.4, what: (line, rate) => line.change({ ratePerMinute: 2 * rate }) }],
  },
  {
    name: "unannounced: everybody who missed their turn is served again, at once; 40 % do not come",
    isCalm: false,
    // Those who are served again come: where that alone explains it, it is told.
    expected: ["others", "fuller"],
    noShow: () => 40,
    happens: [{ at: 0.3, what: (line) => line.oweSlots(line.missed.splice(0)) }],
  },
  {
    name: "unannounced: people begin to come; 60 % do not come, then 5 %",
    isCalm: false,
    expected: ["fuller"],
    noShow: (share) => (share < 0.5 ? 60 : 5),
  },
  {
    name: "unannounced: two holds of two minutes; 20 % do not come",
    isCalm: false,
    expected: ["stopped"],
    noShow: () => 20,
    happens: [0.2, 0.5].map((at) => ({
      at,
      what: async (line) => {
        await line.hold();
        await line.pass(2 * MINUTE_MS);
        await line.resume();
      },
    })),
  },
];

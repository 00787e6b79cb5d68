/** What goes wrong in a run and in which order: drawn from the seed, so that one seed is one order of faults. */
import { SeededRandomness } from "@vestibule/testkit/seeded-randomness";

interface Kind {
  /** How often it is drawn, against the others. */
  readonly weight: number;
  /** How long it lasts, milliseconds. */
  readonly lasts: readonly [min: number, max: number];
}

/** Each as `who: what`. "killed" is SIGKILL, "stopped" SIGSTOP and later SIGCONT, "ended" SIGTERM; all come back. */
export const FAULT_KINDS = {
  "mint: killed": { weight: 14, lasts: [0, 4_000] },
  "mint: stopped": { weight: 12, lasts: [300, 9_000] },
  "mint: ended": { weight: 8, lasts: [0, 3_000] },
  "mint: cut from its database": { weight: 7, lasts: [200, 7_000] },
  "mint: its database stands still": { weight: 7, lasts: [200, 7_000] },
  "mint: answers of its database are lost": { weight: 6, lasts: [100, 3_000] },
  "mint: out of reach": { weight: 5, lasts: [200, 5_000] },
  "mint: its network stands still": { weight: 5, lasts: [200, 5_000] },
  "all mints: killed": { weight: 3, lasts: [500, 3_000] },
  "all mints: stopped": { weight: 4, lasts: [1_000, 7_000] },
  "all mints: stopped beyond the horizon": { weight: 2, lasts: [15_000, 22_000] },
  "database: restarted": { weight: 6, lasts: [0, 0] },
  "database: killed": { weight: 6, lasts: [0, 3_000] },
  "purchase: killed": { weight: 7, lasts: [0, 4_000] },
  "purchase: stopped": { weight: 5, lasts: [300, 6_000] },
  "purchase: ended": { weight: 4, lasts: [0, 2_000] },
  "purchase: cut from its database": { weight: 4, lasts: [200, 5_000] },
  "purchase: its database stands still": { weight: 4, lasts: [200, 5_000] },
  "purchase: answers of its database are lost": { weight: 6, lasts: [100, 3_000] },
  "purchase: out of reach": { weight: 4, lasts: [200, 4_000] },
  "purchase: its answers are lost": { weight: 5, lasts: [200, 4_000] },
  "store: killed": { weight: 4, lasts: [0, 3_000] },
  "store: stopped": { weight: 4, lasts: [200, 4_000] },
} as const satisfies Record<string, Kind>;
export type FaultKind = keyof typeof FAULT_KINDS;

export interface Fault {
  readonly kind: FaultKind;
  /** Of a mint: the one that leads at that moment, when one does. Else, and of a purchase API: the one of this index. */
  readonly leader: boolean;
  readonly index: number;
  readonly lastsMs: number;
  /** Until the next one begins, whether this one is over or not. */
  readonly thenMs: number;
}

export interface PlanOptions {
  readonly seed: number;
  readonly faults: number;
  readonly mints: number;
  readonly purchases: number;
  /** Without one there are no faults of it. */
  readonly hasStore: boolean;
  /** None lasts longer, milliseconds. */
  readonly lastsMsMax?: number | undefined;
  /** Milliseconds between the beginnings of two faults. */
  readonly pace: { readonly min: number; readonly max: number };
}

/** Percent of the faults of one mint that are the leader's. */
const LEADERS = 70;
/** The first fault lasts long enough for some slots to open in it. */
const FIRST_MS_MIN = 4_000;

export function planFaults(options: PlanOptions): readonly Fault[] {
  const { seed, faults, mints, purchases, hasStore, pace, lastsMsMax = Infinity } = options;
  const random = new SeededRandomness(seed);
  const kinds = (Object.keys(FAULT_KINDS) as FaultKind[]).filter(
    (kind) => hasStore || !kind.startsWith("store:"),
  );
  const bag = kinds.flatMap((kind) => Array.from({ length: FAULT_KINDS[kind].weight }, () => kind));
  const first = mustHave(random);
  return Array.from({ length: faults }, (_, place) => {
    const kind = first.get(place) ?? random.pick(bag);
    const [least, max] = FAULT_KINDS[kind].lasts;
    const min = place === 0 ? FIRST_MS_MIN : least;
    const others = kind.startsWith("purchase:") ? purchases : mints;
    return {
      kind,
      leader: random.chance(LEADERS),
      index: random.integer({ min: 0, max: others - 1 }),
      lastsMs: Math.min(lastsMsMax, random.integer({ min, max })),
      thenMs: random.integer(pace),
    };
  });
}

/** Whatever is drawn: without a time in which no mint answers, and fans have their slots in it, law 9 is not looked at. */
function mustHave(random: SeededRandomness): ReadonlyMap<number, FaultKind> {
  return new Map<number, FaultKind>([
    [0, "all mints: stopped"],
    [random.integer({ min: 1, max: 4 }), "mint: killed"],
    [random.integer({ min: 5, max: 8 }), "database: restarted"],
  ]);
}

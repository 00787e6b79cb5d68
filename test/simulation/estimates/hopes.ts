/** Plays sales that sell out, and compares who was told that they are unlikely to get one with who had the chance. */
import { Place } from "@vestibule/client/place";
import { bandOf } from "@vestibule/drip/band";
import { openedCount } from "@vestibule/drip/segment";
import { hearSupply } from "@vestibule/mint/src/line/supply.ts";
import { VirtualLine } from "@vestibule/mint/test/support/virtual-line.ts";
import { SeededRandomness } from "@vestibule/testkit/seeded-randomness";
import { STEP_MS } from "./scenarios.ts";

const TICK_MS = 1_000;
const FANS = 40;
const RATE = 300;
const WAITING = 6_000;
/** Of those who wait, so many pieces there are, per cent. */
const STOCK_PERCENT = { min: 10, max: 90 };
const NO_SHOW_PERCENT = { min: 0, max: 50 };

/** What one who comes may buy: each of these as likely as the others. */
export type Basket = readonly number[];

export const BASKETS: readonly { readonly name: string; readonly basket: Basket }[] = [
  { name: "everybody who comes buys one", basket: [1] },
  { name: "half of those who come buy nothing, the others two", basket: [0, 2] },
  { name: "they buy one to four", basket: [1, 2, 3, 4] },
  { name: "half of those who come buy nothing, the others one", basket: [0, 1] },
];

export interface Hope {
  /** It was ever said, while they waited. */
  readonly wasUnlikely: boolean;
  /** How often it was said, or taken back. */
  readonly changes: number;
  /** Their turn came while there was something. */
  readonly hadChance: boolean;
}

export async function hopesOf(basket: Basket, seed: number): Promise<readonly Hope[]> {
  const random = new SeededRandomness(seed);
  const stock = Math.ceil((WAITING * random.integer(STOCK_PERCENT)) / 100);
  const noShowPercent = random.integer(NO_SHOW_PERCENT);
  const settings = { ratePerMinute: RATE };
  const line = await VirtualLine.start(settings, { seed, waiting: WAITING, noShowPercent });
  const pages = Array.from({ length: FANS }, (_, index) => pageOf((WAITING * (index + 1)) / FANS));
  let [sold, came] = [0, 0];
  await line.tick();
  for (
    let seq = 1;
    sold < stock && line.line.record.progress.line.nextNumber <= WAITING;
    seq += 1
  ) {
    const left = bandOf(stock - sold);
    await hearSupply(line.line, { soldOut: false, lastCall: false, left, seq });
    const { aud: event, ...said } = line.statement();
    for (const page of pages) page.look({ event, ...said }, line.clock.now());
    for (let ms = 0; ms < STEP_MS && sold < stock; ms += TICK_MS) {
      await line.pass(TICK_MS);
      const { claimed } = await line.store.tally(event);
      for (; came < claimed; came += 1) sold += random.pick(basket);
    }
  }
  const now = line.clock.now();
  const opened = Math.max(
    ...line.commitments().map(({ segment }) => segment.base - 1 + openedCount(segment, now)),
  );
  return pages.map(({ n, told }) => ({
    wasUnlikely: told.includes(true),
    changes: told.filter((unlikely, index) => index > 0 && unlikely !== told[index - 1]).length,
    hadChance: n <= opened,
  }));
}

interface Page {
  readonly n: number;
  /** Whether it was unlikely, at each look while they waited. */
  readonly told: boolean[];
  look(drip: Parameters<Place["heard"]>[0], now: number): void;
}

function pageOf(number: number): Page {
  const endsAt = Number.MAX_SAFE_INTEGER;
  const settings = {
    event: "sale",
    homePath: "/",
    lifetimeSeconds: 600,
    claimWindowSeconds: 180,
    endsAt,
  };
  const place = new Place({ settings, number });
  const told: boolean[] = [];
  return {
    n: number,
    told,
    look: (drip, now) => {
      place.heard(drip, now);
      const { state, unlikely } = place.view(now);
      if (state === "waiting" || state === "near") told.push(unlikely);
    },
  };
}

export interface Truth {
  /** Fans who were ever told. */
  readonly told: number;
  /** Of those, per cent whose turn came too late, or never. */
  readonly right: number;
  /** Of those whose turn came too late, per cent who were told. */
  readonly warned: number;
  /** The most often that it was said and taken back to anybody. */
  readonly changes: number;
}

export function truthOf(hopes: readonly Hope[]): Truth {
  const told = hopes.filter(({ wasUnlikely }) => wasUnlikely);
  const late = hopes.filter(({ hadChance }) => !hadChance);
  const both = told.filter(({ hadChance }) => !hadChance).length;
  return {
    told: told.length,
    right: (100 * both) / Math.max(1, told.length),
    warned: (100 * both) / Math.max(1, late.length),
    changes: Math.max(...hopes.map(({ changes }) => changes)),
  };
}

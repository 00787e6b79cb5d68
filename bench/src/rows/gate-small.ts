import type { Answer, Shopper } from "../load/shopper-messages.ts";
import { strayMisses, tallyText, winners } from "../purchase/answers.ts";
import { checkBooks } from "../purchase/books.ts";
import {
  type GateSetting,
  type GateSide,
  type GateSides,
  onSeveralDevices,
  SETTINGS,
  startGateSides,
} from "../purchase/gate-sides.ts";
import { SHOP_TOKEN, SKU } from "../purchase/purchase-world.ts";
import type { Bench, Measured, Row } from "../row.ts";
import { median, spreadOf } from "../statistics.ts";

const USERS = 32;
/** Places in line of one user, who waits on several devices. */
const PER_USER = 4;
const REQUESTS = USERS * PER_USER;
const SEATS = 16;
const FEWER_LEAST = 0.875;

const WARM_UP_ROUNDS = 6;
const COUNTED_ROUNDS = 3;
const TIMED_ROUNDS = 30;
const TIMED_ROUNDS_QUICK = 6;

export const gateSmall: Row = {
  name: "gate-small",
  what: `${REQUESTS} purchases at once by ${USERS} users for ${SEATS} seats, inventory gate on`,
  floor: "the same with the gate off; each round is a sale of its own",
  unit: "requests/s",
  atLeast: 1.41,
  timeoutMs: 120_000,
  measure,
};

interface Round {
  readonly elapsedMs: number;
  readonly answers: readonly Answer[];
}
type Pair = Readonly<Record<GateSetting, Round>>;

async function measure(bench: Bench): Promise<Measured> {
  const timedRounds = bench.quick ? TIMED_ROUNDS_QUICK : TIMED_ROUNDS;
  const rounds = WARM_UP_ROUNDS + COUNTED_ROUNDS + timedRounds;
  const events = Array.from({ length: rounds }, (_, index) => `sale-${index + 1}`);
  const sides = await startGateSides(bench, { events, instances: 1, lanes: REQUESTS });
  let used = 0;
  const nextEvent = (): string => events[used++] ?? "";

  const devices = async (event: string): Promise<Shopper[]> =>
    onSeveralDevices(await sides.admissions(event, REQUESTS), PER_USER);

  for (let turn = 0; turn < WARM_UP_ROUNDS; turn += 1) {
    bench.progress(`warming up, ${turn + 1} of ${WARM_UP_ROUNDS}`);
    const event = nextEvent();
    await pairOf(sides, event, { shoppers: await devices(event), turn });
  }
  const counts = await countTransactions(sides, nextEvent, devices);

  const pairs: Pair[] = [];
  for (let turn = 0; turn < timedRounds; turn += 1) {
    const event = nextEvent();
    pairs.push(await pairOf(sides, event, { shoppers: await devices(event), turn }));
    bench.progress(
      `round ${turn + 1} of ${timedRounds}: ratio ${median(ratios(pairs)).toFixed(3)}`,
    );
  }
  const spread = spreadOf(ratios(pairs));
  const perSecond = (setting: GateSetting): number =>
    median(pairs.map((pair) => (REQUESTS * 1_000) / pair[setting].elapsedMs));
  const fewer = 1 - counts.on / counts.off;
  return {
    candidate: perSecond("on"),
    floor: perSecond("off"),
    ratio: spread.median,
    spread,
    misses: [
      ...(fewer >= FEWER_LEAST ? [] : [`only ${percent(fewer)} fewer transactions`]),
      ...SETTINGS.flatMap((setting) =>
        strayMisses(pairs.flatMap((pair) => pair[setting].answers)).map(
          (miss) => `gate ${setting}: ${miss}`,
        ),
      ),
    ],
    notes: [
      `PostgreSQL transactions that may buy: ${counts.off} with the gate off, ${counts.on} with it on: ${percent(fewer)} fewer (wanted: ${REQUESTS}, ${SEATS}); each user has ${PER_USER} places in line, on devices of their own`,
      `oversold 0, in ${2 * rounds} sales; the limiter took a token for each request, and its buckets were wide`,
      `last round: on ${tallyText(pairs.at(-1)?.on.answers ?? [])}; off ${tallyText(pairs.at(-1)?.off.answers ?? [])}`,
      ...SETTINGS.map((setting) => `of one core, gate ${setting}: ${sides[setting].cpu.text()}`),
    ],
  };
}

/** Median over a few rounds of how often the statement that buys was executed. */
async function countTransactions(
  sides: GateSides,
  nextEvent: () => string,
  shoppersOf: (event: string) => Promise<Shopper[]>,
): Promise<Readonly<Record<GateSetting, number>>> {
  const counts: Record<GateSetting, number[]> = { on: [], off: [] };
  for (let turn = 0; turn < COUNTED_ROUNDS; turn += 1) {
    const event = nextEvent();
    const shoppers = await shoppersOf(event);
    for (const setting of SETTINGS) {
      const side = sides[setting];
      await side.open(event, SEATS);
      await side.books.startCounting();
      await rush(side, event, shoppers);
      counts[setting].push(await side.books.counted());
      await side.books.stopCounting();
    }
  }
  return { on: median(counts.on), off: median(counts.off) };
}

/** One sale on both sides; who goes first alternates. */
async function pairOf(
  sides: GateSides,
  event: string,
  { shoppers, turn }: { shoppers: readonly Shopper[]; turn: number },
): Promise<Pair> {
  const rounds: Partial<Record<GateSetting, Round>> = {};
  for (const setting of turn % 2 === 0 ? SETTINGS : SETTINGS.toReversed()) {
    const side = sides[setting];
    await side.open(event, SEATS);
    rounds[setting] = await side.cpu.during(() => rush(side, event, shoppers));
  }
  return rounds as Pair;
}

/** @throws Error when the books are wrong, or say something else than the answers. */
async function rush(side: GateSide, event: string, shoppers: readonly Shopper[]): Promise<Round> {
  const order = { event, sku: SKU, shoppers, shopToken: SHOP_TOKEN };
  const { elapsedMs, answers } = await side.crowd.rush(order);
  const books = await side.books.read(event, SKU);
  checkBooks(books, SEATS);
  if (books.orders !== SEATS || winners(answers).size !== SEATS) {
    throw new Error(`${books.orders} orders for ${SEATS} seats: ${tallyText(answers)}`);
  }
  return { elapsedMs, answers };
}

function ratios(pairs: readonly Pair[]): number[] {
  return pairs.map(({ on, off }) => off.elapsedMs / on.elapsedMs);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

/**
 * What the crowd checks while it buys: the laws as a fan can see them. Pure bookkeeping, so that
 * a test can hand it a system that breaks them.
 */

/** More violations than this are counted, not kept. */
const KEPT_MAX = 50;

export interface Purchase {
  readonly number: number;
  readonly orderId: string;
  readonly quantity: number;
}

/** A hold that has ended, as the drip lists it. Moments are epoch milliseconds. */
interface Cut {
  readonly since: number;
  readonly until: number;
}

/** The slot that was announced, when, and the one that the claim got. Moments are epoch milliseconds. */
export interface Claimed {
  readonly number: number;
  readonly announced: number;
  readonly announcedAt: number;
  readonly opensAt: number;
  /** All that the drip lists after the claim. */
  readonly cuts: readonly Cut[];
}

export class Checks {
  /** How many comparisons were made: zero violations of zero checks say nothing. */
  count = 0;
  violationCount = 0;
  readonly violations: string[] = [];
  readonly #onViolation: (text: string) => void;
  readonly #numbers = new Set<number>();
  readonly #orders = new Map<number, Purchase>();
  readonly #orderIds = new Set<string>();
  #bought = 0;
  #serving = 0;

  constructor(options: { onViolation?: (text: string) => void } = {}) {
    this.#onViolation = options.onViolation ?? (() => {});
  }

  /** Seats in the orders that our fans hold. */
  get bought(): number {
    return this.#bought;
  }

  /** Law 1: a number is given once. */
  joined(number: number): void {
    this.#check(Number.isSafeInteger(number) && number >= 1, () => `${number} is no number`);
    this.#check(!this.#numbers.has(number), () => `number ${number} was given twice`);
    this.#numbers.add(number);
  }

  /** The claim answers with the slot that the drip announced, or with a later one where a hold cut that (ADR 1). */
  claimed(claim: Claimed): void {
    this.#check(
      claim.opensAt === claim.announced || isCut(claim),
      () => `number ${claim.number} was announced for ${claim.announced} and got ${claim.opensAt}`,
    );
  }

  /** Somebody is in: not before their slot. All moments are of one machine. */
  entered(entry: { number: number; opensAt: number; at: number }): void {
    this.#check(
      entry.at >= entry.opensAt,
      () => `number ${entry.number} was in ${entry.opensAt - entry.at} ms before its slot`,
    );
  }

  /** Somebody tried the door well before their slot. */
  triedEarly(attempt: { number: number; letIn: boolean }): void {
    this.#check(!attempt.letIn, () => `number ${attempt.number} was let in before its slot`);
  }

  /** Somebody claimed without saying that they are there, where it is asked for. */
  claimedUnsaid(attempt: { number: number; admitted: boolean }): void {
    this.#check(
      !attempt.admitted,
      () => `number ${attempt.number} was admitted without saying that they are there`,
    );
  }

  /** Law 4: a token is spent once, and no order is another's. */
  boughtSeats(purchase: Purchase): void {
    const { number, orderId, quantity } = purchase;
    this.#check(!this.#orders.has(number), () => `number ${number} bought twice`);
    this.#check(!this.#orderIds.has(orderId), () => `order ${orderId} belongs to two fans`);
    this.#orders.set(number, purchase);
    this.#orderIds.add(orderId);
    this.#bought += quantity;
  }

  /** The same `Idempotency-Key` again: the same order, and nothing more. */
  repeated(again: { number: number; orderId: string | undefined }): void {
    const first = this.#orders.get(again.number)?.orderId;
    this.#check(
      again.orderId === first,
      () => `number ${again.number} asked again for order ${first} and got ${again.orderId}`,
    );
  }

  /** A spent admission with another `Idempotency-Key`. */
  triedTwice(attempt: { number: number; sold: boolean }): void {
    this.#check(!attempt.sold, () => `number ${attempt.number} spent one admission twice`);
  }

  /**
   * Law 4: never more than the stock; and what our fans hold is sold.
   *
   * @param stock read after `bought` was.
   */
  stock(stock: { total: number; sold: number; bought: number }): void {
    this.#check(
      stock.sold <= stock.total,
      () => `${stock.sold} seats are sold, and there are ${stock.total}`,
    );
    this.#check(
      stock.bought <= stock.sold,
      () => `fans hold ${stock.bought} seats, and only ${stock.sold} are sold`,
    );
  }

  /** Law 2: the serving number never falls. */
  serving(number: number): void {
    const before = this.#serving;
    this.#check(number >= before, () => `the serving number fell from ${before} to ${number}`);
    this.#serving = Math.max(before, number);
  }

  #check(holds: boolean, say: () => string): void {
    this.count += 1;
    if (holds) return;
    this.violationCount += 1;
    const text = say();
    if (this.violations.length < KEPT_MAX) this.violations.push(text);
    this.#onViolation(text);
  }
}

/** Void is what opens after the hold began and was announced before it ended; the new slot opens after the end. */
function isCut({ announced, announcedAt, opensAt, cuts }: Claimed): boolean {
  return cuts.some(
    ({ since, until }) => announced > since && announcedAt < until && opensAt >= until,
  );
}

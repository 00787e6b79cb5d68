/**
 * The purchase API as a model: its real verdict on an admission, and its rule that an admission is spent once, with the
 * stock, in one commit. The real flow is bound to PostgreSQL and is proven in apps/purchase.
 */
import { judgeAdmission } from "@vestibule/token/judge-admission";
import type { SeededRandomness } from "@vestibule/testkit/seeded-randomness";
import type { Machine } from "../world/machine.ts";
import { Isolate, type LocationParts } from "./location.ts";
import { ISSUER, SKEW_SECONDS } from "./mint-process.ts";

export interface Shown {
  readonly admission: string;
  readonly visitor: string;
  /** The same for each try of one purchase. */
  readonly idempotencyKey: string;
}

export type Bought = "bought" | "sold-out" | "already-spent" | "refused" | "away";

export interface ShopOptions {
  readonly stock: number;
  readonly lifetimeSeconds: number;
  /** A canary: what was spent is not looked for. */
  readonly forgetsSpends: boolean;
  /** Told of every commit. */
  readonly onSale: (sale: {
    readonly jti: string;
    readonly n: number;
    readonly left: number;
  }) => void;
  /** Told when something changes between something and nothing left. */
  readonly onSupply: (isOut: boolean) => void;
}

export class Shop {
  readonly machine: Machine;
  readonly #isolate: Isolate;
  readonly #event: string;
  readonly #random: SeededRandomness;
  readonly #options: ShopOptions;
  readonly #spends = new Map<string, string>();
  #left: number;

  constructor(parts: LocationParts, options: ShopOptions) {
    this.machine = parts.machine;
    this.#event = parts.event;
    this.#random = parts.random;
    this.#options = options;
    this.#left = options.stock;
    this.#isolate = new Isolate(parts, new Map());
  }

  get isOut(): boolean {
    return this.#left === 0;
  }

  async buy({ admission, visitor, idempotencyKey }: Shown): Promise<Bought> {
    const { feed } = this.#isolate;
    const { clock } = this.machine;
    const thing = `drip:${this.#event}` as const;
    await feed.whenKnown("keys", clock.now());
    const keys = feed.keys(clock.now());
    if (keys === undefined) return "away";
    const verdict = await judgeAdmission(
      admission,
      {
        ...{ keys, visitor, issuer: ISSUER, event: this.#event, now: clock.now() },
        ...{ skewSeconds: SKEW_SECONDS, action: "purchase" as const },
        lifetimeSeconds: this.#options.lifetimeSeconds,
      },
      {
        newerKeys: () => Promise.resolve(undefined),
        keys: () => feed.keys(clock.now()),
        drip: async () => {
          if (feed.refreshDue(thing, clock.now())) await feed.refresh(thing, clock.now());
          return feed.drip(this.#event)?.claims;
        },
      },
    );
    if (!verdict.ok) return "refused";
    // Limiter, gate and transaction take their time; then one commit decides.
    await this.machine.sleep(this.#random.integer({ min: 1, max: 300 }));
    return this.#spend(verdict.value, idempotencyKey);
  }

  /** A seat comes back: a hold ran out, or a payment failed. */
  giveBack(): void {
    this.#left += 1;
    if (this.#left === 1) this.#options.onSupply(false);
  }

  #spend({ jti, number }: { jti: string; number: number }, key: string): Bought {
    const spent = this.#spends.get(jti);
    if (spent !== undefined && !this.#options.forgetsSpends) {
      return spent === key ? "bought" : "already-spent";
    }
    if (this.#left === 0) return "sold-out";
    this.#spends.set(jti, key);
    this.#left -= 1;
    this.#options.onSale({ jti, n: number, left: this.#left });
    if (this.#left === 0) this.#options.onSupply(true);
    return "bought";
  }
}

/** The purchase API's part in a credit: its own key, and a credit for what a claim was answered with. */
import type { ClaimAnswer } from "@vestibule/contracts/line-api";
import { type KeySet, parseJwks } from "@vestibule/keys/key-set";
import { generateKeyPair } from "@vestibule/keys/key-pair";
import { jwksDocument, type PublicJwk } from "@vestibule/keys/public-key";
import { importPrivateJwk, type SigningKey } from "@vestibule/keys/signing-key";
import { epochSeconds, ticketNumber, toSeconds } from "@vestibule/kernel/units";
import { signCredit } from "@vestibule/token/sign-credit";
import { hashVisitor } from "@vestibule/token/visitor";
import type { EventSettings } from "@vestibule/contracts/event-settings";
import type { MemoryStore } from "./memory-store.ts";
import { type Fan, ISSUER, memoryWorld, type World } from "./world.ts";

export interface CreditKey {
  readonly signingKey: SigningKey;
  readonly publicJwk: PublicJwk;
  readonly keys: KeySet;
}

export async function creditKey(): Promise<CreditKey> {
  const { privateJwk, publicJwk } = await generateKeyPair();
  const imported = await importPrivateJwk(privateJwk);
  const keys = await parseJwks(jwksDocument([publicJwk]));
  if (!imported.ok || !keys.ok) throw new Error("a fresh key pair is good");
  return { signingKey: imported.value.signingKey, publicJwk, keys: keys.value };
}

export interface CreditChange {
  readonly event?: string;
  readonly number?: number;
  readonly visitor?: string;
  readonly slot?: number;
  readonly key?: SigningKey;
}

/** A world whose mint knows a purchase API's credit key. */
export class CreditWorld {
  readonly world: World<MemoryStore>;
  readonly key: CreditKey;

  private constructor(world: World<MemoryStore>, key: CreditKey) {
    this.world = world;
    this.key = key;
  }

  static async start(change: Partial<EventSettings> = {}): Promise<CreditWorld> {
    const key = await creditKey();
    const short = { claimWindowSeconds: 10, lifetimeSeconds: 20, horizonSeconds: 20 };
    const world = await memoryWorld({ ...short, ...change }, { creditKeys: key.keys });
    return new CreditWorld(world, key);
  }

  /** What the purchase API gives whose purchase with `answer`'s admission failed by a fault of ours. */
  credit(
    fan: Fan,
    answer: Pick<ClaimAnswer, "opensAt">,
    change: CreditChange = {},
  ): Promise<string> {
    return signCredit(change.key ?? this.key.signingKey, {
      issuer: ISSUER,
      event: change.event ?? "spring",
      sub: hashVisitor(change.visitor ?? fan.visitor),
      number: ticketNumber(change.number ?? fan.place?.number ?? 0),
      slot: epochSeconds(change.slot ?? Math.floor(answer.opensAt / 1_000)),
      iat: toSeconds(this.world.clock.now()),
    });
  }

  /** A fan who had a slot, claimed it, could not buy, and whose slot is over and settled. */
  async failed() {
    const { world } = this;
    const fan = await world.join();
    await world.pass(1_000);
    const answer = await world.claim(fan);
    const credit = await this.credit(fan, answer);
    await world.pass(25_000);
    return { fan, answer, credit };
  }

  /** Slots of `n` that were committed and not cut. */
  slotsOf(n: number): number {
    return this.world.store
      .committed("spring")
      .filter(
        ({ base, count, cutAfter }) => cutAfter === undefined && n >= base && n < base + count,
      ).length;
  }
}

/** A mint without HTTP, in virtual time: the same parts that `service.ts` wires, on any store. */
import { randomBytes } from "node:crypto";
import type { EventSettings } from "@vestibule/contracts/event-settings";
import type { JoinAnswer } from "@vestibule/contracts/line-api";
import type { DripClaims } from "@vestibule/contracts/statements";
import type { KeySet } from "@vestibule/keys/key-set";
import type { SigningName } from "@vestibule/keys/public-key";
import { kekOf } from "@vestibule/keys/seal";
import { kekVault } from "@vestibule/keys/vault";
import { AppError } from "@vestibule/kernel/app-error";
import { silentLog } from "@vestibule/service/log";
import { FakeClock } from "@vestibule/testkit/fake-clock";
import { KeyKeeper, type Leading } from "../../src/keys/key-keeper.ts";
import { keyFacts } from "../../src/keys/key-policy.ts";
import type { KeyRing } from "../../src/keys/key-ring.ts";
import { signingDesk } from "../../src/keys/signing-desk.ts";
import { creditReader } from "../../src/credit-reader.ts";
import { LineTerm } from "../../src/lead/line-term.ts";
import { RecentJoins } from "../../src/line/recent-joins.ts";
import { Mint } from "../../src/mint.ts";
import type { MintStore } from "../../src/store/store.ts";
import type { Tokens } from "../../src/tokens.ts";
import { HandTimers } from "./hand-timers.ts";
import { MemoryStore } from "./memory-store.ts";
import { settings } from "./settings.ts";

export const ISSUER = "https://mint.example";
export const GAP = 1_000;
const LEASE_MS = 3_000;

export interface Fan {
  readonly visitor: string;
  place?: JoinAnswer;
}

export interface WorldParts<Store extends MintStore> {
  readonly store: Store;
  readonly clock: FakeClock;
  /** Makes the lease run out. */
  readonly expireLease: () => Promise<void>;
  /** The purchase API's. */
  readonly creditKeys?: KeySet;
  readonly rotationDays?: number;
  readonly signingName?: SigningName;
}

export async function memoryWorld(
  change: Partial<EventSettings> = {},
  more: Pick<WorldParts<MemoryStore>, "creditKeys" | "rotationDays" | "signingName"> = {},
): Promise<World<MemoryStore>> {
  const clock = new FakeClock();
  const store = new MemoryStore(clock);
  const expireLease = async () => void clock.advance(LEASE_MS + 1);
  return World.start({ store, clock, expireLease, ...more }, change);
}

export class World<Store extends MintStore> {
  readonly store: Store;
  readonly clock: FakeClock;
  readonly event: string;
  readonly timers: HandTimers;
  readonly mint: Mint;
  readonly tokens: Tokens;
  readonly keeper: KeyKeeper;
  /** Why ticks failed, if any did. */
  readonly failures: string[] = [];
  /** Statements signed so far. */
  signed = 0;
  term: LineTerm | undefined;
  /** The newest statement's parts that must never go back. */
  #seen = { seq: 0, serving: 0 };
  readonly #expireLease: () => Promise<void>;

  private constructor(
    parts: WorldParts<Store>,
    { event, keeper }: { event: string; keeper: KeyKeeper },
  ) {
    this.store = parts.store;
    this.clock = parts.clock;
    this.event = event;
    this.keeper = keeper;
    this.timers = new HandTimers(parts.clock);
    this.#expireLease = parts.expireLease;
    const desk = signingDesk({ issuer: ISSUER, skewSeconds: 5, ring: () => keeper.ring });
    this.tokens = {
      ...desk,
      drip: (claims) => {
        this.signed += 1;
        return desk.drip(claims);
      },
    };
    this.mint = new Mint({
      clock: parts.clock,
      tokens: this.tokens,
      credits: creditReader({ keys: parts.creditKeys, issuer: ISSUER, skewSeconds: 5 }),
      recent: new RecentJoins({ entriesMax: 4_096, keepMs: 60_000, secret: randomBytes(4) }),
      term: () => this.term,
    });
  }

  static async start<Store extends MintStore>(
    parts: WorldParts<Store>,
    change: Partial<EventSettings> = {},
  ): Promise<World<Store>> {
    const { store, clock } = parts;
    const { lead } = await store.acquireLease({
      holder: "first",
      ttlMs: LEASE_MS,
      gapNumbers: GAP,
    });
    if (lead === undefined) throw new Error("somebody leads already");
    const vault = kekVault({ kek: kekOf(new Uint8Array(32)) });
    const { rotationDays, signingName } = parts;
    const keeper = new KeyKeeper({ store, clock, vault, rotationDays, signingName });
    await keeper.begin({ lead, facts: keyFacts([], clock.now()) });
    const wanted = settings(change);
    const audit = { actor: "test", action: "create", detail: {} };
    await store.createEvent(lead, { settings: wanted, at: clock.now(), audit });
    await store.releaseLease(lead, []);
    const world = new World(parts, { event: wanted.event, keeper });
    await world.lead();
    return world;
  }

  /** Becomes leader, as a new process would. */
  async lead(): Promise<LineTerm> {
    const { store, clock, timers } = this;
    const holder = randomBytes(8).toString("hex");
    const { lead } = await store.acquireLease({ holder, ttlMs: LEASE_MS, gapNumbers: GAP });
    if (lead === undefined) throw new Error("somebody leads already");
    this.term = await LineTerm.begin({
      lead,
      store,
      clock,
      timers,
      issuer: ISSUER,
      signer: this.tokens,
      log: {
        ...silentLog,
        warn: (_event, fields) => void this.failures.push(String(fields?.["reason"])),
        error: (_event, error) => void this.failures.push(String(error)),
      },
      isConfirmed: () => true,
      onLost: () => {
        this.term?.abandon();
        this.term = undefined;
      },
    });
    return this.term;
  }

  /** The process dies; another one takes over. */
  async crash(): Promise<void> {
    this.term?.abandon();
    this.term = undefined;
    await this.#expireLease();
    await this.lead();
  }

  /** A clean stop and a start. */
  async restart(): Promise<void> {
    const { term } = this;
    if (term !== undefined) await this.store.releaseLease(term.lead, await term.close());
    await this.lead();
  }

  get ring(): KeyRing {
    return this.keeper.ring;
  }

  /** As whom, and by what, the keys are changed now. */
  get leading(): Leading {
    const term = this.mint.leading();
    const records = term.events.map(({ line }) => line.record);
    return { lead: term.lead, facts: keyFacts(records, this.clock.now()) };
  }

  get line() {
    return this.mint.entry(this.event).line;
  }

  fan(): Fan {
    return { visitor: randomBytes(32).toString("base64url") };
  }

  async join(fan: Fan = this.fan(), ticket?: string): Promise<Fan & { place: JoinAnswer }> {
    const request =
      ticket === undefined ? { visitor: fan.visitor } : { visitor: fan.visitor, ticket };
    const { answer } = await this.mint.join(this.event, request);
    fan.place = answer;
    return fan as Fan & { place: JoinAnswer };
  }

  async joinMany(count: number): Promise<(Fan & { place: JoinAnswer })[]> {
    const fans = [];
    for (let index = 0; index < count; index += 1) fans.push(await this.join());
    return fans;
  }

  claim(fan: Fan, credit?: string, confirmed?: boolean) {
    const request = { visitor: fan.visitor, ticket: fan.place?.ticket ?? "" };
    return this.mint.claim(this.event, {
      ...request,
      ...(credit === undefined ? {} : { credit }),
      ...(confirmed === undefined ? {} : { confirmed }),
    });
  }

  /** One tick of the controller, now. */
  async tick(): Promise<void> {
    await this.term?.tickAll();
  }

  /** Time goes by, with a tick a second, as in life. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 1_000) {
      this.clock.advance(Math.min(left, 1_000));
      await this.tick();
    }
  }

  /** The drip statement, read as an edge reads it; checks that nothing in it goes backwards. */
  async drip(): Promise<DripClaims> {
    const term = this.mint.leading();
    const claims = payload(await term.drip(this.mint.entry(this.event))) as unknown as DripClaims;
    if (claims.seq < this.#seen.seq) throw new Error("seq went back");
    if (claims.serving < this.#seen.serving)
      throw new Error("the serving number went back (law 2)");
    this.#seen = claims;
    return claims;
  }
}

/** The claims of a token or statement, without looking at its signature. */
export function payload(text: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(text.split(".")[1] ?? "", "base64url").toString()) as Record<
    string,
    unknown
  >;
}

/** The code of the refusal that `work` ends in; `"ok"` when it does not. */
export function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "ok",
    (error: unknown) => {
      if (error instanceof AppError) return error.code;
      throw error;
    },
  );
}

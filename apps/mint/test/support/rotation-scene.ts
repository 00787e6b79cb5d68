/**
 * Keys that rotate, with everything that is real but the time and the network: a mint and a standby on one store, locations of
 * several isolates that know them through packages/feed, with copies of every age and clocks anywhere within the tolerance.
 */
import {
  KEY_STAGED_SECONDS,
  KEYS_PROPAGATION_SECONDS,
  SKEW_SECONDS_MAX,
} from "@vestibule/contracts/limits";
import type { CachedText, FetchText } from "@vestibule/feed/ports";
import { ok, refuse } from "@vestibule/kernel/result";
import type { EpochMs } from "@vestibule/kernel/units";
import { KEY_USES } from "@vestibule/keys/public-key";
import { kekOf } from "@vestibule/keys/seal";
import { kekVault } from "@vestibule/keys/vault";
import type { SeededRandomness } from "@vestibule/testkit/seeded-randomness";
import { signDrip, signManifest } from "@vestibule/token/sign";
import { type KeyCommand, KeyKeeper } from "../../src/keys/key-keeper.ts";
import { KEYS_LOOK_EVERY_MS } from "../../src/limits.ts";
import { Isolate } from "./isolate.ts";
import type { MemoryStore } from "./memory-store.ts";
import { FAULTS, owed, type Token, TokenMaker } from "./shown-tokens.ts";
import { still, type Wander, wandering } from "./wandering-clock.ts";
import { codeOf, memoryWorld, payload, type World } from "./world.ts";

const LEADER = "https://mint.example";
const STANDBY = "https://standby.example";
/** `max-age` of the key set: a cache before the mint keeps copies for that long. */
const CACHE_MS = 60_000;
const LOCATIONS = 6;
/** Signed each second. */
const SIGNED = 4;
/** Kept of tokens that are not good. */
const FAULTY_MAX = 256;
/** A token is shown for so long after its `exp`: nobody's clock owes it anything any more. */
const SHOWN_AFTER_SECONDS = 2 * SKEW_SECONDS_MAX + 60;
const TOLD_MAX = 5;

export interface SceneOptions {
  /** Statements do not say which key set is the newest: what a feed that does not listen would do. */
  readonly deaf?: boolean;
}

export class RotationScene {
  readonly world: World<MemoryStore>;
  readonly maker: TokenMaker;
  readonly random: SeededRandomness;
  readonly isolates: readonly Isolate[];
  /** Tokens of the mint that are shown, the oldest first. */
  readonly genuine: Token[] = [];
  readonly counts = {
    ...{ verifications: 0, signatures: 0, valid: 0, invalid: 0, undecided: 0 },
    ...{ refusedValid: 0, acceptedInvalid: 0 },
  };
  /** The first wrong verdicts, in words. */
  readonly wrong: string[] = [];
  readonly faultsShown = new Map<string, number>();
  /** Nobody reaches a mint, and none signs. */
  isMintDown = false;
  /** No location reaches a mint. Those sign even so. */
  isCutOff = false;
  /** The last that a key signed: they need it for longest. */
  readonly #belated: Token[] = [];
  readonly #faulty: Token[] = [];
  readonly #standby: KeyKeeper;
  readonly #startedAt: EpochMs;
  readonly #deaf: boolean;
  #standbyReadsAt = 0;
  #seconds = 0;
  #replaced: { readonly kid: string; readonly at: EpochMs } | undefined;

  private constructor(
    parts: { world: World<MemoryStore>; maker: TokenMaker; random: SeededRandomness },
    { deaf = false }: SceneOptions,
  ) {
    this.world = parts.world;
    this.maker = parts.maker;
    this.random = parts.random;
    this.#deaf = deaf;
    this.#startedAt = parts.world.clock.now();
    const { store, clock } = parts.world;
    const vault = kekVault({ kek: kekOf(new Uint8Array(32)) });
    this.#standby = new KeyKeeper({ store, clock, vault, rotationDays: undefined });
    this.isolates = Array.from({ length: LOCATIONS }, (_, index) => this.#location(index)).flat();
  }

  static async start(random: SeededRandomness, options: SceneOptions = {}): Promise<RotationScene> {
    const world = await memoryWorld();
    const maker = await TokenMaker.create(world, random);
    return new RotationScene({ world, maker, random }, options);
  }

  get now(): EpochMs {
    return this.world.clock.now();
  }

  /** Seconds since the start. */
  get elapsed(): number {
    return (this.now - this.#startedAt) / 1_000;
  }

  /** The first two stand at the ends of what is allowed; one tolerates little, and its clock is as good. */
  #location(index: number): Isolate[] {
    const { random } = this;
    const skewSeconds = index === 2 ? 5 : SKEW_SECONDS_MAX;
    const end = still((index === 0 ? -1 : 1) * skewSeconds * 1_000);
    const wander = (): Wander => (index < 2 ? end : wandering(random, skewSeconds * 1_000));
    const shared = new Map<string, CachedText>();
    const fetchText = this.#network();
    return Array.from({ length: random.integer({ min: 1, max: 3 }) }, (_, isolate) => {
      // Busy, asked now and then, or left alone for long.
      const everyMs = random.pick([
        1_000,
        1_000,
        random.integer({ min: 2, max: 14 }) * 1_000,
        90_000,
      ]);
      return new Isolate(
        {
          name: `${index}.${isolate}`,
          mintUrls: [LEADER, STANDBY],
          ...{ fetchText, skewSeconds, everyMs, wander: wander() },
          cache: {
            get: (key) => Promise.resolve(shared.get(key)),
            put: (key, entry) => Promise.resolve(void shared.set(key, entry)),
          },
        },
        this.#startedAt,
      );
    });
  }

  /** Of one location: the mints' answers, those for the keys as old as `max-age` allows. */
  #network(): FetchText {
    const copies = new Map<string, { readonly text: string; readonly at: number }>();
    return async ({ url }) => {
      if (this.isMintDown || this.isCutOff) return refuse({ reason: "unreachable" });
      const isLeader = url.startsWith(LEADER);
      if (!url.includes("jwks")) {
        // A standby has no statements of its own.
        if (!isLeader) return refuse({ reason: "status", status: 503 });
        return ok({ text: await this.#statement(url.endsWith("/drip")), roundTripMs: 1 });
      }
      const known = copies.get(url);
      if (known !== undefined && this.now - known.at < CACHE_MS)
        return ok({ text: known.text, roundTripMs: 1 });
      const keeper = isLeader ? this.world.keeper : this.#standby;
      const text = keeper.published?.jwks;
      if (text === undefined) return refuse({ reason: "status", status: 503 });
      copies.set(url, { text, at: this.now });
      return ok({ text, roundTripMs: 1 });
    };
  }

  async #statement(isDrip: boolean): Promise<string> {
    const { mint, ring } = this.world;
    const term = mint.leading();
    const text = isDrip ? await term.drip(mint.entry("spring")) : await term.manifest();
    if (!this.#deaf) return text;
    const { keysSeq: _untold, ...claims } = payload(text);
    const sign = (isDrip ? signDrip : signManifest) as typeof signDrip;
    return sign(ring.signing.line, claims as unknown as Parameters<typeof signDrip>[1]);
  }

  /** One second of everything, with about so many signatures checked in it. */
  async second(signatures = 0): Promise<void> {
    this.world.clock.advance(1_000);
    this.#seconds += 1;
    if (!this.isMintDown) await this.#mintLives();
    await this.#forgersLive();
    const visited = this.isolates.filter((isolate) => isolate.isVisited(this.now));
    await Promise.all(visited.map((isolate) => isolate.visit(this.now)));
    await this.verify(visited, signatures);
    await Promise.all(visited.map((isolate) => isolate.settle()));
  }

  async #mintLives(): Promise<void> {
    const { world, now } = this;
    if (this.#seconds % (KEYS_LOOK_EVERY_MS / 1_000) === 0) await world.keeper.tick(world.leading);
    if (now >= this.#standbyReadsAt) {
      await this.#standby.read();
      this.#standbyReadsAt = now + this.random.integer({ min: 2, max: 6 }) * 1_000;
    }
    for (let made = 0; made < SIGNED; made += 1) this.genuine.push(await this.maker.genuine());
    const replaced = this.#replaced;
    if (replaced !== undefined && now - replaced.at <= KEYS_PROPAGATION_SECONDS * 1_000)
      this.#belated.push(await this.maker.belated(replaced.kid));
    const over = now / 1_000 - SHOWN_AFTER_SECONDS;
    for (const tokens of [this.genuine, this.#belated])
      while (tokens[0] !== undefined && tokens[0].exp < over) tokens.shift();
  }

  /** Whoever forges does not rest while the mint is down. */
  async #forgersLive(): Promise<void> {
    const fault = FAULTS[this.#seconds % FAULTS.length];
    const faulty = fault && (await this.maker.faulty(fault));
    if (faulty !== undefined) this.#faulty.push(faulty);
    if (this.#faulty.length > FAULTY_MAX) this.#faulty.shift();
  }

  /** Shows tokens of all ages and faults to `isolates`, all at once, and compares each answer with what is owed. */
  async verify(isolates: readonly Isolate[], signatures: number): Promise<void> {
    const checks = Array.from({ length: signatures }, async (_, index) => {
      const isolate = isolates[index % isolates.length];
      const token = this.#pick();
      if (isolate === undefined || token === undefined) return;
      // With each twentieth comes one of a flood that costs nobody a signature.
      if (index % 20 === 0) await this.judge(isolate, this.#flood(token));
      await this.judge(isolate, token);
    });
    await Promise.all(checks);
  }

  async judge(isolate: Isolate, token: Token): Promise<void> {
    const { now, counts } = this;
    const revoked = this.world.keeper.stored.keys.find(
      ({ kid, state }) => kid === token.kid && state === "revoked",
    );
    const due = owed(token, {
      clock: isolate.clock(now),
      skewSeconds: isolate.skewSeconds,
      revokedMs: revoked === undefined ? undefined : now - revoked.since,
    });
    const { accepted, signatures, reason } = await isolate.check(token, now);
    counts.verifications += 1;
    counts.signatures += signatures;
    const fault = token.fault ?? (due === "refuse" ? "over, early or revoked" : "");
    if (fault !== "" && due === "refuse")
      this.faultsShown.set(fault, (this.faultsShown.get(fault) ?? 0) + 1);
    counts[due === "accept" ? "valid" : due === "refuse" ? "invalid" : "undecided"] += 1;
    if (due === "either" || accepted === (due === "accept")) return;
    counts[accepted ? "acceptedInvalid" : "refusedValid"] += 1;
    if (this.wrong.length >= TOLD_MAX) return;
    const off = isolate.clock(now) - now;
    const age = now / 1_000 - token.iat;
    this.wrong.push(
      `${accepted ? `accepted, ${fault}` : `refused, ${reason}`}: second ${this.elapsed}, location ${isolate.name} ` +
        `(off by ${off} ms), signed ${age} s ago by ${token.kid.slice(0, 6)}`,
    );
  }

  #flood(token: Token): Token {
    return { ...token, ...this.maker.junk(token), fault: "junk-kid" };
  }

  /** One with a fault, one that was signed late, one of the newest, of the oldest, or any. */
  #pick(): Token | undefined {
    const { genuine, random } = this;
    const length = genuine.length;
    const share = random.integer({ min: 0, max: 99 });
    if (share < 20 && this.#faulty.length > 0) return random.pick(this.#faulty);
    if (share < 30 && this.#belated.length > 0) return random.pick(this.#belated);
    if (length === 0) return undefined;
    if (share < 45)
      return genuine[random.integer({ min: Math.max(0, length - 12), max: length - 1 })];
    if (share < 60) return genuine[random.integer({ min: 0, max: Math.floor((length - 1) / 4) })];
    return random.pick(genuine);
  }

  /** Whether the next key of each use has taken over, as early as that is safe. */
  async rotate(): Promise<boolean> {
    const before = this.world.ring.signing.admission.kid;
    for (const use of KEY_USES) {
      const code = await codeOf(this.command({ do: "promote", kid: this.staged(use) }));
      if (code === "not-yet-safe") return false;
      if (code !== "ok") throw new Error(code);
    }
    this.#replaced = { kid: before, at: this.now };
    return true;
  }

  /** Whether the next admission key is in every copy of the set: what makes a revocation cost nobody their slot. */
  get hasSuccessor(): boolean {
    const row = this.world.keeper.stored.keys.find(({ kid }) => kid === this.staged("admission"));
    return row !== undefined && this.now - row.since >= KEY_STAGED_SECONDS * 1_000;
  }

  /** The `kid` that comes next. */
  staged(use: (typeof KEY_USES)[number], which: "oldest" | "newest" = "oldest"): string {
    const staged = this.world.keeper.stored.keys
      .filter((key) => key.use === use && key.state === "staged")
      .sort((one, other) => one.since - other.since);
    return staged.at(which === "oldest" ? 0 : -1)?.kid ?? "";
  }

  command(command: KeyCommand): Promise<unknown> {
    const { keeper, leading } = this.world;
    const force = "force" in command && command.force;
    return keeper.command(leading, command, { actor: "test", reason: "test", force });
  }

  /** The mint's process is gone, and the way to the standby as well. */
  goDown(): void {
    this.isMintDown = true;
  }

  /** Another process leads. */
  async comeUp(): Promise<void> {
    await this.world.crash();
    await this.world.keeper.begin(this.world.leading);
    this.isMintDown = false;
  }
}

/** Admissions, good ones and every kind that is not, and what a location owes each: judged without the verifier's code. */
import {
  ADMISSION_KEY_RETIRING_SECONDS,
  HORIZON_SECONDS_DEFAULT,
  REVOCATION_SECONDS_MAX,
  SKEW_SECONDS_MAX,
} from "@vestibule/contracts/limits";
import { addMs, type EpochMs, ticketNumber, toSeconds } from "@vestibule/kernel/units";
import { kekOf } from "@vestibule/keys/seal";
import { generateSigningKey, type SigningKey } from "@vestibule/keys/signing-key";
import { kekVault } from "@vestibule/keys/vault";
import type { SeededRandomness } from "@vestibule/testkit/seeded-randomness";
import { signAdmission } from "@vestibule/token/sign";
import type { KeyRow } from "../../src/store/store.ts";
import { LIFETIME_SECONDS, type Shown } from "./isolate.ts";
import type { MemoryStore } from "./memory-store.ts";
import { ISSUER, type World } from "./world.ts";

export const FAULTS = [
  "bad-signature",
  "claims-of-another",
  "stranger-under-our-kid",
  "unknown-kid",
  "junk-kid",
  "other-event",
  "other-visitor",
  "key-of-the-line",
  "ticket",
  "from-the-future",
  "lifetime-too-long",
  "retired-key",
  "revoked-key",
] as const;
export type Fault = (typeof FAULTS)[number];

export interface Token extends Shown {
  readonly kid: string;
  /** Epoch seconds. */
  readonly iat: number;
  readonly nbf: number;
  readonly exp: number;
  /** Absent: the mint signed it for this visitor. */
  readonly fault?: Fault;
}

/** What a location has to answer; `either` where a boundary second or a stated bound leaves it open. */
export function owed(
  { fault, iat, nbf, exp }: Token,
  at: {
    /** The location's clock, milliseconds. */
    readonly clock: number;
    readonly skewSeconds: number;
    /** How long ago its key was revoked, milliseconds. */
    readonly revokedMs: number | undefined;
  },
): "accept" | "refuse" | "either" {
  const seconds = at.clock / 1_000;
  const from = Math.max(iat, nbf) - at.skewSeconds;
  const until = exp + at.skewSeconds;
  if (fault === "from-the-future") return seconds < from - 1 ? "refuse" : "either";
  if (fault !== undefined) return "refuse";
  if (at.revokedMs !== undefined)
    return at.revokedMs > REVOCATION_SECONDS_MAX * 1_000 ? "refuse" : "either";
  if (Math.abs(seconds - from) <= 1 || Math.abs(seconds - until) <= 1) return "either";
  return seconds > from && seconds < until ? "accept" : "refuse";
}

const base64url = (value: object): string =>
  Buffer.from(JSON.stringify(value)).toString("base64url");

export class TokenMaker {
  readonly #world: World<MemoryStore>;
  readonly #random: SeededRandomness;
  readonly #stranger: SigningKey;
  /** Every admission key that ever signed, as whoever stole it has it. */
  readonly #held = new Map<string, SigningKey>();
  #last: Token | undefined;
  #number = 0;

  private constructor(
    world: World<MemoryStore>,
    { random, stranger }: { random: SeededRandomness; stranger: SigningKey },
  ) {
    this.#world = world;
    this.#random = random;
    this.#stranger = stranger;
  }

  static async create(world: World<MemoryStore>, random: SeededRandomness): Promise<TokenMaker> {
    const { signingKey } = await generateSigningKey(kekVault({ kek: kekOf(new Uint8Array(32)) }));
    return new TokenMaker(world, { random, stranger: signingKey });
  }

  /** As the mint signs it: a slot that opens within the horizon, or one that is claimed late. */
  async genuine(): Promise<Token> {
    const opens = this.#random.integer({ min: -180, max: HORIZON_SECONDS_DEFAULT });
    const key = this.#world.ring.signing.admission;
    this.#held.set(key.kid, key);
    return (this.#last = await this.#sign({ key, opens }));
  }

  /** By a mint that has not heard yet that `kid` does not sign any more. */
  async belated(kid: string): Promise<Token> {
    return this.#sign({ key: this.#holds(kid), opens: HORIZON_SECONDS_DEFAULT });
  }

  /** `undefined`: there is nothing yet to make it of. */
  async faulty(fault: Fault): Promise<Token | undefined> {
    const last = this.#last;
    if (last === undefined) return undefined;
    const key = this.#world.ring.signing.admission;
    const [header = "", payload = "", signature = ""] = last.text.split(".");
    const other = await this.#sign({ key });
    const like = (text: string): Token => ({ ...last, text, fault });
    switch (fault) {
      case "bad-signature": {
        const bytes = Buffer.from(signature, "base64url");
        const at = this.#random.integer({ min: 0, max: 63 });
        bytes[at] = (bytes[at] ?? 0) ^ (1 << this.#random.integer({ min: 0, max: 7 }));
        return like(`${header}.${payload}.${bytes.toString("base64url")}`);
      }
      case "claims-of-another":
        return { ...other, text: `${header}.${other.text.split(".")[1]}.${signature}`, fault };
      case "stranger-under-our-kid":
        return this.#sign({ key: { ...this.#stranger, kid: key.kid }, fault });
      case "unknown-kid":
        return this.#sign({ key: this.#stranger, fault });
      case "junk-kid":
        return like(this.junk(last).text);
      case "other-event":
        return this.#sign({ key, event: "autumn", fault });
      case "other-visitor":
        return { ...other, visitor: last.visitor, fault };
      case "key-of-the-line":
        return this.#sign({ key: this.#world.ring.signing.line, fault });
      case "ticket":
        return this.#ticket();
      case "from-the-future":
        return this.#sign({ key, ahead: 2 * SKEW_SECONDS_MAX + 5, fault });
      case "lifetime-too-long":
        return this.#sign({ key, lifetimeSeconds: LIFETIME_SECONDS + 1, fault });
      case "retired-key":
      case "revoked-key":
        return this.#stolen(fault);
    }
  }

  /** Costs the flooder nothing: a `kid` made up for this one request. */
  junk({ text, visitor }: Shown): Shown {
    const kid = Buffer.from(this.#random.bytes(32)).toString("base64url");
    const header = base64url({ alg: "Ed25519", typ: "vst-admission+jwt", kid });
    return { text: header + text.slice(text.indexOf(".")), visitor };
  }

  /** Signed now, by a key that everybody has to know as over: `undefined` while there is none. */
  async #stolen(fault: "retired-key" | "revoked-key"): Promise<Token | undefined> {
    const now = this.#world.clock.now();
    const isOver = ({ kid, state, since }: KeyRow): boolean => {
      if (!this.#held.has(kid)) return false;
      const seconds = (now - since) / 1_000;
      if (fault === "revoked-key") return state === "revoked" && seconds > REVOCATION_SECONDS_MAX;
      // By the clock: whether the mint is there to say so or not.
      const byClock = state === "retiring" && seconds > ADMISSION_KEY_RETIRING_SECONDS + 1;
      return byClock || (state === "retired" && seconds > 1);
    };
    const kids = this.#world.keeper.stored.keys.filter(isOver).map(({ kid }) => kid);
    if (kids.length === 0) return undefined;
    return this.#sign({ key: this.#holds(this.#random.pick(kids)), fault });
  }

  #holds(kid: string): SigningKey {
    const key = this.#held.get(kid);
    if (key === undefined) throw new Error(`${kid} never signed`);
    return key;
  }

  async #sign({
    key,
    opens = 0,
    event = "spring",
    ahead = 0,
    lifetimeSeconds = LIFETIME_SECONDS,
    fault,
  }: {
    key: SigningKey;
    /** Seconds from now until its slot opens. */
    opens?: number;
    event?: string;
    ahead?: number;
    lifetimeSeconds?: number;
    fault?: Fault;
  }): Promise<Token> {
    const now = addMs(this.#world.clock.now(), ahead * 1_000);
    const visitor = this.#visitor();
    const opensAt = addMs(now, opens * 1_000);
    const [iat, nbf] = [toSeconds(now), toSeconds(opensAt)];
    this.#number += 1;
    const sub = this.#world.tokens.subOf(visitor).text;
    const text = await signAdmission(key, {
      ...{ issuer: ISSUER, event, sub, action: "purchase", number: ticketNumber(this.#number) },
      ...{ iat, opensAt, lifetimeSeconds },
    });
    const exp = nbf + lifetimeSeconds;
    return { ...{ text, visitor, kid: key.kid, iat, nbf, exp }, ...(fault && { fault }) };
  }

  async #ticket(): Promise<Token> {
    const now: EpochMs = this.#world.clock.now();
    const visitor = this.#visitor();
    const sub = this.#world.tokens.subOf(visitor).text;
    const [iat, exp] = [toSeconds(now), toSeconds(addMs(now, LIFETIME_SECONDS * 1_000))];
    const text = await this.#world.tokens.ticket({ event: "spring", sub, n: 1, iat, exp });
    const { kid } = this.#world.ring.signing.line;
    return { text, visitor, kid, iat, nbf: iat, exp, fault: "ticket" };
  }

  #visitor(): string {
    return Buffer.from(this.#random.bytes(32)).toString("base64url");
  }
}

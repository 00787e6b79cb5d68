/** Under which name a mint signs: it is the key's, so that a change of the setting costs nobody a token. */
import { JWKS_CACHE_SECONDS_MAX, KEY_STAGED_SECONDS } from "@vestibule/contracts/limits";
import { addMs, epochMs, toSeconds } from "@vestibule/kernel/units";
import { KEY_USES, type KeyUse, type SigningName } from "@vestibule/keys/public-key";
import { kekOf } from "@vestibule/keys/seal";
import { kekVault } from "@vestibule/keys/vault";
import { FakeClock } from "@vestibule/testkit/fake-clock";
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from "jose";
import { beforeEach, describe, expect, it } from "vitest";
import { KeyKeeper } from "../src/keys/key-keeper.ts";
import { keyFacts } from "../src/keys/key-policy.ts";
import { keysView } from "../src/keys/key-view.ts";
import { signingDesk } from "../src/keys/signing-desk.ts";
import type { KeyRow, Lead } from "../src/store/store.ts";
import { MemoryStore } from "./support/memory-store.ts";
import { ISSUER, memoryWorld } from "./support/world.ts";

const LIFETIME_SECONDS = 600;
const vault = kekVault({ kek: kekOf(new Uint8Array(32)) });
const nameOf = (text: string): unknown => decodeProtectedHeader(text).alg;

interface Entry {
  readonly kid: string;
  readonly alg: string;
  readonly exp?: number;
}

/** Mints on one store, of which one leads. */
class Mints {
  readonly clock = new FakeClock();
  readonly store = new MemoryStore(this.clock);
  #lead: Lead | undefined;

  make(signingName?: SigningName): KeyKeeper {
    const { store, clock } = this;
    return new KeyKeeper({ ...{ store, clock, vault, signingName }, rotationDays: undefined });
  }

  get leading() {
    if (this.#lead === undefined) throw new Error("nobody leads");
    return { lead: this.#lead, facts: keyFacts([], this.clock.now()) };
  }

  async takeOver(keeper: KeyKeeper): Promise<void> {
    if (this.#lead !== undefined) await this.store.releaseLease(this.#lead, []);
    ({ lead: this.#lead } = await this.store.acquireLease({
      ...{ holder: "mint", ttlMs: 3_000, gapNumbers: 0 },
    }));
    await keeper.begin(this.leading);
  }

  sign(keeper: KeyKeeper): Promise<string> {
    const now = this.clock.now();
    return signingDesk({ issuer: ISSUER, skewSeconds: 5, ring: () => keeper.ring }).admission({
      ...{ event: "spring", sub: "A".repeat(43), n: 1, iat: toSeconds(now), opensAt: now },
      lifetimeSeconds: LIFETIME_SECONDS,
    });
  }

  /** The staged key of each use that has this name signs. */
  async activate(keeper: KeyKeeper, name: SigningName): Promise<void> {
    for (const use of KEY_USES) {
      const staged = rows(keeper, use, "staged").find(({ publicJwk }) => publicJwk.alg === name);
      const command = { do: "promote", kid: staged?.kid ?? "" } as const;
      await keeper.command(this.leading, command, { actor: "test" });
    }
  }
}

const rows = (keeper: KeyKeeper, use: KeyUse, state: KeyRow["state"]): KeyRow[] =>
  keeper.stored.keys.filter((key) => key.use === use && key.state === state);
const namesOf = (keeper: KeyKeeper, state: KeyRow["state"]): string[] =>
  KEY_USES.flatMap((use) => rows(keeper, use, state)).map(({ publicJwk }) => publicJwk.alg);
const published = (keeper: KeyKeeper): readonly Entry[] =>
  (JSON.parse(keeper.published?.jwks ?? "{}") as { keys: Entry[] }).keys;

let mints: Mints;
beforeEach(() => {
  mints = new Mints();
});

describe.each(["Ed25519", "EdDSA"] as const)("a mint that is set up under %s", (signingName) => {
  it("signs all that it signs under that name, as its key set says, and reads it", async () => {
    const world = await memoryWorld({}, { signingName });
    const fan = await world.join();
    await world.pass(2_000);
    const { admission } = await world.claim(fan);
    const term = world.mint.leading();
    const signed = [
      ...[admission, fan.place.ticket, await term.manifest()],
      await term.drip(world.mint.entry(world.event)),
    ];
    expect(signed.map(nameOf)).toEqual(Array.from(signed, () => signingName));
    expect(published(world.keeper).map(({ alg }) => alg)).toEqual(
      Array.from({ length: 4 }, () => signingName),
    );
    const again = await world.join({ visitor: fan.visitor }, fan.place.ticket);
    expect(again.place.number).toBe(fan.place.number);
    const view = keysView(world.keeper.stored, {
      ...{ now: world.clock.now(), facts: world.leading.facts },
      policies: world.keeper.policies(world.leading.facts),
    });
    expect(new Set(view.keys.map(({ alg }) => alg))).toEqual(new Set([signingName]));
  });
});

describe("the setting changes", () => {
  const STAGED_MS = KEY_STAGED_SECONDS * 1_000;
  let before: KeyKeeper;
  let after: KeyKeeper;
  beforeEach(async () => {
    [before, after] = [mints.make(), mints.make("EdDSA")];
    await mints.takeOver(before);
  });

  it("and a key keeps its name: nothing that is published says another one", async () => {
    const known = published(before);
    mints.clock.advance(STAGED_MS);
    await mints.takeOver(after);
    expect(published(after)).toEqual(expect.arrayContaining([...known]));
    expect(nameOf(await mints.sign(after))).toBe("Ed25519");
    expect(after.otherwiseNamed.map(({ use }) => use)).toEqual(["line", "admission"]);
    expect(before.otherwiseNamed).toEqual([]);
  });

  it("and the successors are replaced as soon as new ones are known everywhere, by themselves", async () => {
    mints.clock.advance(STAGED_MS);
    await mints.takeOver(after);
    expect(namesOf(after, "staged")).toEqual(["Ed25519", "EdDSA", "Ed25519", "EdDSA"]);
    mints.clock.advance(STAGED_MS - 1);
    await after.tick(mints.leading);
    expect(namesOf(after, "staged")).toHaveLength(4);
    mints.clock.advance(1);
    await after.tick(mints.leading);
    expect(namesOf(after, "staged")).toEqual(["EdDSA", "EdDSA"]);
    expect(mints.store.keysAudit.filter(({ action }) => action === "key-revoke")).toMatchObject([
      { actor: "mint", detail: { use: "line", reason: expect.stringMatching(/^staged under/) } },
      { actor: "mint", detail: { use: "admission" } },
    ]);
    await mints.activate(after, "EdDSA");
    expect(nameOf(await mints.sign(after))).toBe("EdDSA");
    expect(namesOf(after, "retiring")).toEqual(["Ed25519", "Ed25519"]);
    expect(namesOf(after, "staged")).toEqual(["EdDSA", "EdDSA"]);
    expect(after.otherwiseNamed).toEqual([]);
  });

  it("and mints of both settings publish the same text and sign under the same name, whoever leads", async () => {
    for (const leader of [after, before, after, before, after]) {
      await mints.takeOver(leader);
      for (const each of [before, after]) await each.read();
      expect(before.published).toEqual(after.published);
      expect(nameOf(await mints.sign(before))).toBe(nameOf(await mints.sign(after)));
      mints.clock.advance(10_000);
    }
    // Successors of either name are there by now: no takeover makes another.
    expect(published(before)).toHaveLength(6);
  });

  it("law 7: and no admission is refused by whoever compares the names of token and key, with any copy of the set", async () => {
    const STEP_SECONDS = 5;
    const copies: { at: number; keys: ReturnType<typeof createLocalJWKSet> }[] = [];
    const tokens: { text: string; exp: number }[] = [];
    const checked = { Ed25519: 0, EdDSA: 0 };
    let leader = before;
    let seconds = 0;
    const events: Readonly<Record<number, () => Promise<void>>> = {
      // One mint after the other is restarted, and the lease goes to and fro.
      60: () => mints.takeOver((leader = after)),
      90: () => mints.takeOver((leader = before)),
      120: () => mints.takeOver((leader = after)),
      [120 + KEY_STAGED_SECONDS]: () => mints.activate(leader, "EdDSA"),
      600: () => mints.takeOver((leader = before)),
    };
    for (; seconds < 1_400; seconds += STEP_SECONDS) {
      await events[seconds]?.();
      await leader.tick(mints.leading);
      const now = mints.clock.now();
      for (const each of [before, after]) {
        await each.read();
        const set = JSON.parse(each.published?.jwks ?? "") as JSONWebKeySet;
        copies.push({ at: now, keys: createLocalJWKSet(set) });
      }
      while (now - (copies[0]?.at ?? now) > JWKS_CACHE_SECONDS_MAX * 1_000) copies.shift();
      tokens.push({
        text: await mints.sign(leader),
        exp: addMs(now, LIFETIME_SECONDS * 1_000),
      });
      while ((tokens[0]?.exp ?? Infinity) <= now) tokens.shift();
      const middle = tokens[Math.floor(tokens.length / 2)];
      for (const token of [tokens[0], middle, tokens.at(-1)]) {
        const copy = copies[(seconds * 7) % copies.length];
        for (const { keys } of [copies[0]!, copy!, copies.at(-1)!]) {
          const options = { currentDate: new Date(epochMs(now)), issuer: ISSUER };
          const { protectedHeader } = await jwtVerify(token?.text ?? "", keys, options);
          checked[protectedHeader.alg as SigningName] += 1;
        }
      }
      mints.clock.advance(STEP_SECONDS * 1_000);
    }
    expect(checked.Ed25519).toBeGreaterThan(500);
    expect(checked.EdDSA).toBeGreaterThan(500);
  });
});

import {
  ADMISSION_KEY_RETIRING_SECONDS,
  KEY_STAGED_SECONDS,
  LINE_KEY_SLACK_SECONDS,
  SKEW_SECONDS_MAX,
} from "@vestibule/contracts/limits";
import { addMs, epochMs, ticketNumber, toSeconds } from "@vestibule/kernel/units";
import { parseJwks } from "@vestibule/keys/key-set";
import type { KeyUse } from "@vestibule/keys/public-key";
import { kekOf } from "@vestibule/keys/seal";
import { generateSigningKey } from "@vestibule/keys/signing-key";
import { kekVault } from "@vestibule/keys/vault";
import { FakeClock } from "@vestibule/testkit/fake-clock";
import { signAdmission } from "@vestibule/token/sign";
import { verifyAdmission } from "@vestibule/token/verify-admission";
import { afterEach, describe, expect, it, vi } from "vitest";
import { KeyKeeper } from "../src/keys/key-keeper.ts";
import { keyFacts } from "../src/keys/key-policy.ts";
import { KeyTrouble } from "../src/keys/key-ring.ts";
import { keysView } from "../src/keys/key-view.ts";
import { changeSettings } from "../src/line/organizer.ts";
import { type KeyRow, LeaseLostError } from "../src/store/store.ts";
import { unavailable } from "../src/unavailable.ts";
import { MemoryStore } from "./support/memory-store.ts";
import { codeOf, type Fan, ISSUER, memoryWorld, payload, type World } from "./support/world.ts";

type MemoryWorld = World<MemoryStore>;
const by = { actor: "test" };
const STAGED_MS = KEY_STAGED_SECONDS * 1_000;

const keysIn = (world: MemoryWorld, use: KeyUse, state: KeyRow["state"]): readonly KeyRow[] =>
  world.keeper.stored.keys.filter((key) => key.use === use && key.state === state);
const kidOf = (world: MemoryWorld, use: KeyUse, state: KeyRow["state"]): string =>
  keysIn(world, use, state)[0]!.kid;
const signedBy = (text: string): unknown =>
  (JSON.parse(Buffer.from(text.split(".")[0]!, "base64url").toString()) as { kid: string }).kid;
const published = (world: MemoryWorld) =>
  JSON.parse(world.keeper.published!.jwks) as {
    seq: number;
    keys: { kid: string; vst_use?: string; exp?: number }[];
  };
const entryOf = (world: MemoryWorld, kid: string) =>
  published(world).keys.find((entry) => entry.kid === kid);
const tick = (world: MemoryWorld) => world.keeper.tick(world.leading);

function activate(world: MemoryWorld, use: KeyUse) {
  const command = { do: "promote", kid: kidOf(world, use, "staged") } as const;
  return world.keeper.command(world.leading, command, by);
}
function revoke(world: MemoryWorld, use: KeyUse) {
  const command = { do: "revoke", kid: kidOf(world, use, "signing") } as const;
  return world.keeper.command(world.leading, command, { ...by, reason: "seen in a paste" });
}

/** Whether a location with the key set of now takes the admission, by a clock that is `offMs` off. */
async function isGood(
  world: MemoryWorld,
  { fan, text, offMs = 0 }: { fan: Fan; text: string; offMs?: number },
) {
  const keys = await parseJwks(published(world));
  if (!keys.ok) throw new Error("refused");
  const read = await verifyAdmission(text, {
    ...{ keys: keys.value, issuer: ISSUER, event: world.event, visitor: fan.visitor },
    ...{ action: "purchase", lifetimeSeconds: 600, skewSeconds: SKEW_SECONDS_MAX },
    now: addMs(world.clock.now(), offMs),
  });
  return read.ok;
}

async function admitted(world: MemoryWorld) {
  const fan = await world.join();
  await world.pass(2_000);
  const { admission } = await world.claim(fan);
  return { fan, text: admission };
}

describe("a fresh mint", () => {
  it("has a signing and a staged key of each use, published with their use and a number", async () => {
    const world = await memoryWorld();
    for (const use of ["line", "admission"] as const) {
      expect(keysIn(world, use, "signing")).toHaveLength(1);
      expect(keysIn(world, use, "staged")).toHaveLength(1);
    }
    const { seq, keys } = published(world);
    expect(keys.map((entry) => entry.vst_use)).toEqual([
      ...["line", "line", "admission", "admission"],
    ]);
    expect(seq).toBe(world.keeper.ring.seq);
    expect(world.keeper.published!.jwks).not.toMatch(/"d":|sealed/);
    const { fan, text } = await admitted(world);
    expect(signedBy(text)).toBe(kidOf(world, "admission", "signing"));
    expect(signedBy(fan.place.ticket)).toBe(kidOf(world, "line", "signing"));
    expect(await isGood(world, { fan, text })).toBe(true);
  });

  it("lets the first successor sign at once, since one set brought both keys, and the next one after its time", async () => {
    const world = await memoryWorld();
    const sets = { before: published(world) };
    const first = kidOf(world, "admission", "staged");
    expect(await activate(world, "admission")).toMatchObject({ changed: true });
    expect(sets.before.keys.map(({ kid }) => kid)).toContain(first);
    const { text } = await admitted(world);
    expect(signedBy(text)).toBe(first);
    expect(await codeOf(activate(world, "admission"))).toBe("not-yet-safe");
  });
});

describe("a step", () => {
  it("that is not safe yet is refused with the time from which it is, and done from then on", async () => {
    const world = await memoryWorld();
    await activate(world, "admission");
    const old = kidOf(world, "admission", "signing");
    const next = keysIn(world, "admission", "staged")[0]!;
    const safeFrom = next.since + STAGED_MS;
    world.clock.set(safeFrom - 1);
    await expect(activate(world, "admission")).rejects.toMatchObject({
      code: "not-yet-safe",
      extensions: { safeFrom },
    });
    world.clock.set(safeFrom);
    expect(await activate(world, "admission")).toMatchObject({
      changed: true,
      key: { kid: next.kid },
    });
    expect(kidOf(world, "admission", "signing")).toBe(next.kid);
    expect(keysIn(world, "admission", "retiring").map(({ kid }) => kid)).toContain(old);
    // The private half of a key that signs no more is gone, and a successor is there.
    expect(keysIn(world, "admission", "retiring")[0]!.sealed).toBeUndefined();
    expect(keysIn(world, "admission", "staged")).toHaveLength(1);
    expect(await codeOf(world.keeper.command(world.leading, { do: "retire", kid: old }, by))).toBe(
      "not-yet-safe",
    );
  });

  it("asked again changes nothing; of a key that is not there, or has no such step, is refused", async () => {
    const world = await memoryWorld();
    world.clock.advance(STAGED_MS);
    await activate(world, "line");
    const { seq } = world.keeper.ring;
    const kid = kidOf(world, "line", "signing");
    const again = await world.keeper.command(world.leading, { do: "promote", kid }, by);
    expect([again.changed, world.keeper.ring.seq]).toEqual([false, seq]);
    const ask = (command: Parameters<KeyKeeper["command"]>[1]) =>
      codeOf(world.keeper.command(world.leading, command, by));
    expect(await ask({ do: "promote", kid: "nothing" })).toBe("key-not-found");
    expect(await ask({ do: "retire", kid })).toBe("conflict");
    expect(await ask({ do: "retire", kid, force: true })).toBe("conflict");
  });

  it("that is forced leaves its reason in the audit log", async () => {
    const world = await memoryWorld();
    const kid = kidOf(world, "line", "staged");
    const reason = "the vendor asked for it";
    await world.keeper.command(
      world.leading,
      { do: "promote", kid, force: true },
      { ...by, force: true, reason },
    );
    expect(world.store.keysAudit).toContainEqual({
      actor: "test",
      action: "key-activate",
      detail: expect.objectContaining({ kid, force: true, reason }) as object,
    });
  });

  it("that makes keys without end is refused before the set is full", async () => {
    const world = await memoryWorld();
    const stage = () =>
      codeOf(world.keeper.command(world.leading, { do: "stage", use: "line" }, by));
    const answers = [];
    for (let made = 0; made < 8; made += 1) answers.push(await stage());
    expect(answers).toEqual(["ok", "ok", "ok", "ok", "ok", "conflict", "conflict", "conflict"]);
    // The place that was kept free: a revoked key is replaced even now.
    await revoke(world, "line");
    expect(keysIn(world, "line", "signing")).toHaveLength(1);
    expect(published(world).keys.length).toBeLessThanOrEqual(16);
  });
});

describe("an overlap", () => {
  it("KR-08: what was signed just before the switch is good to its last second, by every clock", async () => {
    const world = await memoryWorld();
    world.clock.advance(STAGED_MS);
    const { fan, text } = await admitted(world);
    await activate(world, "admission");
    const { exp } = payload(text) as { exp: number };
    const slow = -SKEW_SECONDS_MAX * 1_000;
    // By the slowest clock it is over when the mint's says exp + 2 × skew.
    for (const at of [world.clock.now(), exp * 1_000, (exp + 2 * SKEW_SECONDS_MAX) * 1_000 - 1]) {
      world.clock.set(at);
      await tick(world);
      expect(await isGood(world, { fan, text, offMs: slow })).toBe(true);
    }
    expect(ADMISSION_KEY_RETIRING_SECONDS).toBeGreaterThan(600);
  });

  it("of longer slots is longer", async () => {
    const world = await memoryWorld({ lifetimeSeconds: 7_200 });
    world.clock.advance(STAGED_MS);
    const since = world.clock.now();
    await activate(world, "admission");
    const [old] = keysIn(world, "admission", "retiring");
    expect(old!.signedUntil).toBeGreaterThanOrEqual(since / 1_000 + 7_260);
  });

  it("of the line lasts as long as any ticket, also when its event's end is moved", async () => {
    const world = await memoryWorld({ endsAt: 1_767_225_600_000 + 40_000_000 });
    world.clock.advance(STAGED_MS);
    const fan = await world.join();
    const old = kidOf(world, "line", "signing");
    await activate(world, "line");
    const endOf = () => entryOf(world, old)?.exp;
    const end = world.line.record.settings.endsAt / 1_000;
    expect(endOf()).toBe(end + LINE_KEY_SLACK_SECONDS + SKEW_SECONDS_MAX);
    await changeSettings(world.line, { endsAt: (end + 50_000) * 1_000 }, by);
    await tick(world);
    expect(endOf()).toBe(end + 50_000 + LINE_KEY_SLACK_SECONDS + SKEW_SECONDS_MAX);
    // A week of rotations costs nobody their place; a new ticket comes from the new key.
    world.clock.set((end + 40_000) * 1_000);
    await tick(world);
    const again = await world.join(world.fan(), fan.place.ticket);
    expect(again.place.number).not.toBe(fan.place.number);
    const same = await world.join({ visitor: fan.visitor }, fan.place.ticket);
    expect(same.place.number).toBe(fan.place.number);
    expect(signedBy(same.place.ticket)).toBe(kidOf(world, "line", "signing"));
  });

  it("ends by the clock, and then the mint retires the key by itself", async () => {
    const world = await memoryWorld();
    world.clock.advance(STAGED_MS);
    const old = kidOf(world, "admission", "signing");
    await activate(world, "admission");
    world.clock.advance((ADMISSION_KEY_RETIRING_SECONDS + 1) * 1_000);
    expect(entryOf(world, old)).toBeDefined();
    await tick(world);
    expect(entryOf(world, old)).toBeUndefined();
    expect(keysIn(world, "admission", "retired").map(({ kid }) => kid)).toEqual([old]);
  });
});

it("KR-07: rotated once and never again, the old key is over at its end, also for whoever reached no mint since, whatever its token says", async () => {
  const world = await memoryWorld();
  world.clock.advance(STAGED_MS);
  const fan = await world.join();
  const old = world.ring.signing.admission;
  await activate(world, "admission");
  const copy = published(world);
  const end = copy.keys.find(({ kid }) => kid === old.kid)!.exp! * 1_000;
  const shown = async (at: number, jwks: unknown) => {
    world.clock.set(at);
    const keys = await parseJwks(jwks);
    if (!keys.ok) throw new Error("refused");
    // By the thief who kept the key, within the slot of now; as if it had been signed while the key did.
    const text = await signAdmission(old, {
      ...{ issuer: ISSUER, event: world.event, sub: world.tokens.subOf(fan.visitor).text },
      ...{ number: ticketNumber(1), action: "purchase", lifetimeSeconds: 600 },
      ...{ iat: toSeconds(epochMs(end - 600_000)), opensAt: epochMs(at) },
    });
    const read = await verifyAdmission(text, {
      ...{ keys: keys.value, issuer: ISSUER, event: world.event, visitor: fan.visitor },
      ...{ action: "purchase", lifetimeSeconds: 600, skewSeconds: SKEW_SECONDS_MAX },
      now: epochMs(at),
    });
    return read.ok ? "taken" : read.refusal.reason;
  };
  expect(await shown(end - 1, copy)).toBe("taken");
  expect(await shown(end, copy)).toBe("key-over");
  expect(await shown(end + 86_400_000, copy)).toBe("key-over");
  // Nobody runs the plan: the set is made by the clock all the same.
  world.clock.set(end + 2 * SKEW_SECONDS_MAX * 1_000);
  await world.keeper.read();
  expect(entryOf(world, old.kid)).toBeUndefined();
  expect(await shown(world.clock.now(), published(world))).toBe("unknown-key");
});

describe("a revoked key", () => {
  it("of admissions: holders claim again, keep their slot and their admission's name, and wait for nothing", async () => {
    const world = await memoryWorld();
    const { fan, text } = await admitted(world);
    const waiting = await world.join();
    const old = kidOf(world, "admission", "signing");
    const next = kidOf(world, "admission", "staged");
    const { seq } = world.keeper.ring;
    await revoke(world, "admission");
    expect(published(world).seq).toBeGreaterThan(seq);
    expect(entryOf(world, old)).toBeUndefined();
    expect(await isGood(world, { fan, text })).toBe(false);
    const again = await world.claim(fan);
    expect(signedBy(again.admission)).toBe(next);
    expect(await isGood(world, { fan, text: again.admission })).toBe(true);
    const { iat: _before, ...slot } = payload(text);
    const { iat: _after, ...slotAgain } = payload(again.admission);
    expect(slotAgain).toEqual(slot);
    // Whoever waits keeps their place and their ticket.
    const same = await world.join({ visitor: waiting.visitor }, waiting.place.ticket);
    expect(same.place.number).toBe(waiting.place.number);
    expect(world.store.keysAudit.at(-3)).toMatchObject({
      action: "key-revoke",
      detail: { kid: old, reason: "seen in a paste" },
    });
  });

  it("of the line: tickets that it signed are worth nothing, admissions go on", async () => {
    const world = await memoryWorld();
    const { fan, text } = await admitted(world);
    const { seq } = await world.drip();
    await revoke(world, "line");
    expect(await codeOf(world.claim(fan))).toBe("forbidden");
    expect(await isGood(world, { fan, text })).toBe(true);
    // Statements are signed anew at once, and name the new set.
    const drip = await world.drip();
    expect(drip.seq).toBeGreaterThan(seq);
    expect(drip.keysSeq).toBe(published(world).seq);
  });

  it("of the line cannot sign admissions, nor one of admissions tickets, where the use is known", async () => {
    const world = await memoryWorld();
    const { fan, text } = await admitted(world);
    const { signing } = world.ring;
    const crossed = signing.line;
    const [, body] = text.split(".");
    const header = Buffer.from(
      JSON.stringify({ alg: "Ed25519", typ: "vst-admission+jwt", kid: crossed.kid }),
    ).toString("base64url");
    const input = Buffer.from(`${header}.${body}`);
    const signature = Buffer.from(
      await crypto.subtle.sign("Ed25519", crossed.key as CryptoKey, input),
    );
    const forged = `${header}.${body}.${signature.toString("base64url")}`;
    expect(await isGood(world, { fan, text: forged })).toBe(false);
  });
});

describe("a schedule", () => {
  const DAY_MS = 86_400_000;
  const signing = (world: MemoryWorld) => kidOf(world, "admission", "signing");

  it("is off by default", async () => {
    const world = await memoryWorld();
    const first = signing(world);
    world.clock.advance(400 * DAY_MS);
    await tick(world);
    expect(signing(world)).toBe(first);
  });

  it("takes the safe steps that are due, and says when it will", async () => {
    const world = await memoryWorld({}, { rotationDays: 7 });
    const first = signing(world);
    const { facts } = world.leading;
    const policies = world.keeper.policies(facts);
    const view = keysView(world.keeper.stored, { now: world.clock.now(), policies, facts });
    const next = view.keys.find(
      ({ state, use }) => state === "staged" && use === "admission",
    )?.next;
    world.clock.set(next!.dueAt! - 1);
    await tick(world);
    expect(signing(world)).toBe(first);
    world.clock.advance(1);
    await tick(world);
    expect(signing(world)).not.toBe(first);
  });

  it("stands still while a sale that is on has freezeKeys, and no longer", async () => {
    const startsAt = 1_767_225_600_000 + 6 * DAY_MS;
    const endsAt = startsAt + 4 * DAY_MS;
    const change = { freezeKeys: true, startsAt, endsAt };
    const world = await memoryWorld(change, { rotationDays: 1 });
    const first = signing(world);
    world.clock.advance(DAY_MS);
    await tick(world);
    const second = signing(world);
    expect(second).not.toBe(first); // not on yet
    world.clock.set(startsAt);
    const frozen = signing(world);
    for (let days = 0; days < 4; days += 1) {
      world.clock.set(startsAt + days * DAY_MS + 1);
      await tick(world);
      expect(signing(world)).toBe(frozen);
    }
    expect(world.leading.facts.frozenBy).toEqual(["spring"]);
    // By hand it may be done even so; an overlap goes on to its end.
    await activate(world, "admission");
    world.clock.set(endsAt);
    await tick(world);
    world.clock.advance(DAY_MS);
    await tick(world);
    expect(signing(world)).not.toBe(frozen);
  });
});

describe("several mints", () => {
  it("one that was replaced changes nothing, a standby reads what was done, and a failover forgets nothing", async () => {
    const world = await memoryWorld();
    const { store, clock } = world;
    const before = world.leading;
    const other = new KeyKeeper({
      ...{ store, clock, rotationDays: undefined },
      vault: kekVault({ kek: kekOf(new Uint8Array(32)) }),
    });
    await other.read();
    expect(other.ring.signing.line.kid).toBe(world.ring.signing.line.kid);
    clock.advance(3_600_000);
    const lead = (await store.acquireLease({ holder: "other", ttlMs: 3_000, gapNumbers: 1 })).lead!;
    await other.begin({ lead, facts: before.facts });
    const command = { do: "promote", kid: kidOf(world, "line", "staged") } as const;
    await expect(world.keeper.command(before, command, by)).rejects.toBeInstanceOf(LeaseLostError);
    await other.command({ lead, facts: before.facts }, command, by);
    expect(world.ring.signing.line.kid).not.toBe(command.kid);
    await world.keeper.read();
    expect(world.ring.signing.line.kid).toBe(command.kid);
    expect(world.keeper.published).toEqual(other.published);
  });

  it("a change whose answer was lost is found out, and not made twice", async () => {
    const world = await memoryWorld();
    world.clock.advance(STAGED_MS);
    const kid = kidOf(world, "admission", "staged");
    const change = world.store.changeKeys.bind(world.store);
    world.store.changeKeys = async (...args) => {
      await change(...args);
      throw unavailable("the answer is lost");
    };
    expect(await codeOf(activate(world, "admission"))).toBe("unavailable");
    world.store.changeKeys = change;
    const again = await world.keeper.command(world.leading, { do: "promote", kid }, by);
    expect([again.changed, world.ring.signing.admission.kid]).toEqual([false, kid]);
    expect(keysIn(world, "admission", "staged")).toHaveLength(1);
  });

  it("a new leadership counts as newer, whatever the database forgot", async () => {
    const world = await memoryWorld();
    const forgotten = world.keeper.published!.seq;
    world.clock.advance(1);
    const restored = new MemoryStore(world.clock);
    const lead = (await restored.acquireLease({ holder: "a", ttlMs: 3_000, gapNumbers: 1 })).lead!;
    const keeper = new KeyKeeper({
      ...{ store: restored, clock: world.clock, rotationDays: undefined },
      vault: kekVault({ kek: kekOf(new Uint8Array(32)) }),
    });
    await keeper.begin({ lead, facts: keyFacts([], world.clock.now()) });
    expect(keeper.published!.seq).toBeGreaterThan(forgotten);
  });
});

describe("the key-encryption key", () => {
  const [old, fresh, wrong] = [0, 1, 2].map((byte) => kekOf(new Uint8Array(32).fill(byte))) as [
    ReturnType<typeof kekOf>,
    ReturnType<typeof kekOf>,
    ReturnType<typeof kekOf>,
  ];

  it("is replaced at a start: what the previous one sealed is sealed anew, and it is not needed again", async () => {
    const world = await memoryWorld();
    const { store, clock } = world;
    const keeperWith = (vault: ReturnType<typeof kekVault>) =>
      new KeyKeeper({ store, clock, vault, rotationDays: undefined });
    const both = keeperWith(kekVault({ kek: fresh, previous: old }));
    await both.begin(world.leading);
    expect(both.ring.signing.line.kid).toBe(world.ring.signing.line.kid);
    const alone = keeperWith(kekVault({ kek: fresh }));
    await alone.read();
    expect(alone.ring.signing.line.kid).toBe(world.ring.signing.line.kid);
    await expect(keeperWith(kekVault({ kek: old })).read()).rejects.toThrow(
      /VESTIBULE_KEK_PREVIOUS/,
    );
    expect(store.keysAudit.filter(({ action }) => action === "key-seal")).toHaveLength(4);
  });

  it("that is wrong is named, with what to do; what is published is up to date even so", async () => {
    const { store, clock } = await memoryWorld();
    const keeper = new KeyKeeper({
      ...{ store, clock, rotationDays: undefined },
      vault: kekVault({ kek: wrong }),
    });
    const trouble = await keeper.read().catch((error: unknown) => error);
    expect(trouble).toBeInstanceOf(KeyTrouble);
    expect(String(trouble)).toMatch(/VESTIBULE_KEK.*lost-kek/s);
    expect(keeper.published).toBeDefined();
    expect(() => keeper.ring).toThrow(KeyTrouble);
  });
});

describe("KR-09: a runtime that cannot verify", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it.each(["verify", "sign", "importKey"] as const)(
    "stops the start of a mint loudly, before it signs anything, when %s fails",
    async (verb) => {
      const { store, clock } = await memoryWorld();
      const vault = kekVault({ kek: kekOf(new Uint8Array(32)) });
      vi.spyOn(crypto.subtle, verb).mockRejectedValue(new Error("not supported"));
      const keeper = new KeyKeeper({ store, clock, vault, rotationDays: undefined });
      await expect(keeper.read()).rejects.toThrow(KeyTrouble);
      expect(() => keeper.ring).toThrow(KeyTrouble);
    },
  );
});

it("a mint from before there were two uses rotates into them without refusing anybody", async () => {
  const clock = new FakeClock();
  const store = new MemoryStore(clock);
  const vault = kekVault({ kek: kekOf(new Uint8Array(32)) });
  const lead = (await store.acquireLease({ holder: "a", ttlMs: 3_000, gapNumbers: 1 })).lead!;
  const { publicJwk, sealed } = await generateSigningKey(vault);
  const { kid } = publicJwk;
  const [since, use, state] = [clock.now(), "line", "signing"] as const;
  const legacy: KeyRow = { kid, use, state, since, createdAt: since, publicJwk, sealed };
  await store.changeKeys(lead, { seq: 0, nextSeq: 1, rows: [legacy], audit: [] });
  const keeper = new KeyKeeper({ store, clock, vault, rotationDays: undefined });
  const leading = { lead, facts: keyFacts([], clock.now()) };
  await keeper.begin(leading);
  // Until every location has the new one, the old one signs admissions as well.
  expect(keeper.ring.signing.admission.kid).toBe(kid);
  clock.advance(STAGED_MS - 1);
  await keeper.tick(leading);
  expect(keeper.ring.signing.admission.kid).toBe(kid);
  clock.advance(1);
  await keeper.tick(leading);
  expect(keeper.ring.signing.admission.kid).not.toBe(kid);
  expect(keeper.ring.signing.line.kid).toBe(kid);
  // It stays for what it signed of either kind.
  clock.set(epochMs(clock.now() + STAGED_MS));
  const next = keeper.stored.keys.find((key) => key.use === "line" && key.state === "staged")!;
  await keeper.command(leading, { do: "promote", kid: next.kid }, by);
  const retiring = keeper.stored.keys.find((key) => key.kid === kid)!;
  expect(retiring.signedUntil).toBeGreaterThanOrEqual(clock.now() / 1_000 + 660);
});

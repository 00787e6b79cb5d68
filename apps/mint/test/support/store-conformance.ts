/* oxlint-disable typescript/no-non-null-assertion -- missing values fail the test just as well */
/** What every adapter of `MintStore` must do. Run against memory and against PostgreSQL. */
import { epochMs, epochSeconds, ticketNumber } from "@vestibule/kernel/units";
import { expect, it } from "vitest";
import { EPOCHS_PER_HISTORY, SAFETY_GAPS_PER_SECOND } from "../../src/limits.ts";
import {
  type EventChange,
  type Forgotten,
  type KeyRow,
  KeysMovedError,
  type Lead,
  type LeaseAnswer,
  LeaseLostError,
  type LeaseRequest,
  LineMovedError,
  type MintStore,
} from "../../src/store/store.ts";
import { settings } from "./settings.ts";

export interface StoreUnderTest {
  readonly store: MintStore;
  /** Makes the lease of whoever holds it run out. */
  readonly expireLease: () => Promise<void>;
  /** From now on the server has another history than the one that the lease tells of. */
  readonly promote: () => Promise<void>;
}

function won(answer: LeaseAnswer): { lead: Lead; forgotten: Forgotten | undefined } {
  if (answer.lead === undefined) throw new Error("somebody else leads");
  return answer;
}

const GAP = 1_000;
const audit = { actor: "test", action: "create", detail: {} };
const at = epochMs(1_700_000_000_000);
let names = 0;

// oxlint-disable-next-line max-lines-per-function -- tests in one suite, one test after the other, sharing two helpers
export function storeConformance(make: () => Promise<StoreUnderTest>): void {
  const ask = (store: MintStore, more: Partial<LeaseRequest> = {}) => {
    const holder = `holder-${(names += 1)}`;
    return store.acquireLease({ holder, ttlMs: 60_000, gapNumbers: GAP, ...more });
  };
  const acquire = async (store: MintStore) => (await ask(store)).lead;

  async function led(): Promise<StoreUnderTest & { lead: Lead; event: string }> {
    const under = await make();
    await under.expireLease();
    const lead = (await acquire(under.store))!;
    const event = `event-${(names += 1)}`;
    await under.store.createEvent(lead, { settings: settings({ event }), at, audit });
    return { ...under, lead, event };
  }

  /** One segment of ten slots, committed. */
  async function committed() {
    const world = await led();
    const { store, lead, event } = world;
    await store.reserveNumbers(lead, { event, first: 1, through: 64 });
    const change: EventChange = {
      segments: [{ base: ticketNumber(1), count: 10, from: at, until: epochMs(at + 10_000) }],
      progress: {
        line: {
          nextNumber: ticketNumber(11),
          frontier: epochMs(at + 10_000),
          giveBackMicro: 0,
          granted: 10,
        },
        serving: 0,
        lapsed: 0,
      },
      issuedThrough: 20,
    };
    const done = await store.step(lead, {
      event,
      lineVersion: 0,
      settle: [],
      decide: () => change,
    });
    return { ...world, segment: done.segments[0]! };
  }

  it("gives the lease to one of many who ask, and to nobody while it is held", async () => {
    const { store, expireLease } = await make();
    await expireLease();
    const asked = await Promise.all(Array.from({ length: 8 }, () => acquire(store)));
    expect(asked.filter((lead) => lead !== undefined)).toHaveLength(1);
    expect(await acquire(store)).toBeUndefined();
  });

  it("lets the epoch grow with every takeover", async () => {
    const { store, expireLease } = await make();
    await expireLease();
    const first = (await acquire(store))!;
    await expireLease();
    const second = (await acquire(store))!;
    expect(second.epoch).toBe(first.epoch + 1);
    expect(await store.renewLease(first, 1_000)).toBe("lost");
    expect(await store.renewLease(second, 1_000)).toBe("held");
    expect(await ask(store)).toMatchObject({ seen: { epoch: second.epoch } });
  });

  it("a database that may have forgotten leaders: what they may have used is skipped, after a clean end as well", async () => {
    const { store, lead, event, promote } = await led();
    await store.releaseLease(lead, [{ event, issuedThrough: 0 }]);
    await promote();
    const { lead: next, forgotten } = won(await ask(store));
    expect(next.epoch).toBe(lead.epoch + 1 + EPOCHS_PER_HISTORY);
    expect(forgotten).toMatchObject({ from: expect.any(String), epochs: [lead.epoch, 0] });
    expect(forgotten!.skip).toBeGreaterThanOrEqual(2 * GAP);
    expect((await store.loadEvent(event))!.reserved).toBe(forgotten!.skip);
    // Once: from here on it is this history.
    await store.releaseLease(next, []);
    expect(won(await ask(store))).toMatchObject({
      lead: { epoch: next.epoch + 1, history: next.history },
      forgotten: undefined,
    });
  });

  it("numbers that are skipped grow with the time since the last renewal on record", async () => {
    const { store, event, promote, expireLease } = await led();
    await promote();
    await expireLease();
    const { forgotten } = won(await ask(store, { ttlMs: 60_000 }));
    // At least: the lease's own life, and a second since.
    expect(forgotten!.seconds).toBeGreaterThanOrEqual(60);
    expect(forgotten!.skip).toBe(GAP * (2 + SAFETY_GAPS_PER_SECOND * forgotten!.seconds));
    expect((await store.loadEvent(event))!.reserved).toBe(forgotten!.skip);
  });

  it("a leader whose database moved to another history is told, and its lease not renewed; what it gave can be stored", async () => {
    const { store, lead, event, promote } = await led();
    await store.reserveNumbers(lead, { event, first: 1, through: 64 });
    await promote();
    const moved = { ...lead, history: `${lead.history}0` };
    expect(await store.renewLease(moved, 3_600_000)).toBe("moved");
    await store.releaseLease(moved, [{ event, issuedThrough: 5 }]);
    expect((await store.loadEvent(event))!.blocks).toMatchObject([{ first: 1, issuedThrough: 5 }]);
    const { forgotten } = won(await ask(store, { ttlMs: 120_000 }));
    expect(forgotten!.seconds).toBeGreaterThanOrEqual(60);
  });

  it("a lease that is behind what a process has seen is taken beyond it, and beyond every number that it gave", async () => {
    const { store, lead, event, expireLease } = await led();
    await expireLease();
    const seen = { epoch: lead.epoch + 7, until: 0 };
    const known = { seen, ends: [{ event, issuedThrough: 5_000 }] };
    const { lead: next, forgotten } = won(await ask(store, { known }));
    expect(next.epoch).toBe(seen.epoch + 1 + EPOCHS_PER_HISTORY);
    expect(forgotten?.epochs).toEqual([lead.epoch, seen.epoch]);
    expect((await store.loadEvent(event))!.reserved).toBe(5_000 + forgotten!.skip);
  });

  it("law 1: a copy of the disk that was put back under the same leader is behind its last renewal that was seen", async () => {
    const { store, lead, event, expireLease } = await led();
    const { seen } = await ask(store);
    expect(seen?.epoch).toBe(lead.epoch);
    // The renewal that is lost.
    const known = { seen: { ...seen!, until: seen!.until + 1_000 }, ends: [] };
    await expireLease();
    const { lead: next, forgotten } = won(await ask(store, { known }));
    expect(next.epoch).toBe(lead.epoch + 1 + EPOCHS_PER_HISTORY);
    expect((await store.loadEvent(event))!.reserved).toBe(forgotten!.skip);
  });

  it("a leader whose successor is forgotten is replaced, though it renews: it cannot know", async () => {
    const { store, lead } = await led();
    const seen = { epoch: lead.epoch + 1, until: 0 };
    expect(await store.renewLease(lead, 60_000)).toBe("held");
    const { lead: next } = won(await ask(store, { known: { seen, ends: [] } }));
    expect(next.epoch).toBe(seen.epoch + 1 + EPOCHS_PER_HISTORY);
    expect(await store.renewLease(lead, 60_000)).toBe("lost");
  });

  it("a lease of a server whose clock was far ahead is not waited for", async () => {
    const { store, lead } = await led();
    expect((await ask(store)).lead).toBeUndefined();
    expect(await store.renewLease(lead, 3_600_000)).toBe("held");
    expect((await ask(store)).lead?.epoch).toBe(lead.epoch + 1);
  });

  it("what a process has seen changes nothing while the lease is not behind it", async () => {
    const { store, lead, event } = await led();
    const { seen } = await ask(store);
    await store.releaseLease(lead, []);
    const known = { seen: seen!, ends: [{ event, issuedThrough: 5_000 }] };
    expect(won(await ask(store, { known }))).toMatchObject({
      lead: { epoch: lead.epoch + 1 },
      forgotten: undefined,
    });
    expect((await store.loadEvent(event))!.reserved).toBe(0);
  });

  it("grants nothing to a leader that was replaced, whatever it asks", async () => {
    const { store, lead, event, expireLease, segment } = await committed();
    await expireLease();
    expect(await acquire(store)).toBeDefined();
    const before = await store.loadEvent(event);
    const attempts = [
      () => store.reserveNumbers(lead, { event, first: 1, through: 10_000 }),
      () =>
        store.step(lead, {
          event,
          lineVersion: 1,
          settle: [],
          decide: () => ({ issuedThrough: 30 }),
        }),
      () =>
        store.recordClaims(lead, { event, at, fresh: [{ n: 1, segment: segment.id }], again: [] }),
      () => store.createEvent(lead, { settings: settings({ event: "late" }), at, audit }),
      () => store.releaseLease(lead, [{ event, issuedThrough: 1 }]),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toThrow(LeaseLostError);
    expect(await store.loadEvent(event)).toEqual(before);
    expect((await store.tally(event)).claimed).toBe(0);
  });

  it("grants nothing to a leader that has given the lease back", async () => {
    const { store, lead, event } = await committed();
    await store.releaseLease(lead, [{ event, issuedThrough: 20 }]);
    const late = store.reserveNumbers(lead, { event, first: 1, through: 10_000 });
    await expect(late).rejects.toThrow(LeaseLostError);
    expect((await store.loadEvent(event))!.reserved).toBe(20);
  });

  it("tells two leaders of one epoch apart by their holder", async () => {
    const { store, lead, event } = await led();
    const twin = { ...lead, holder: "somebody else" };
    await expect(store.reserveNumbers(twin, { event, first: 1, through: 5 })).rejects.toThrow(
      LeaseLostError,
    );
  });

  it("keeps the highest reservation, however often and in whatever order it is asked", async () => {
    const { store, lead, event } = await led();
    for (const through of [64, 192, 64, 192]) {
      await store.reserveNumbers(lead, { event, first: 1, through });
    }
    const record = (await store.loadEvent(event))!;
    expect(record.reserved).toBe(192);
    expect(record.blocks).toEqual([{ epoch: lead.epoch, first: 1, last: 192, issuedThrough: 0 }]);
  });

  it("skips the safety gap after an unclean end, and nothing after a clean one", async () => {
    const { store, lead, event, expireLease } = await led();
    await store.reserveNumbers(lead, { event, first: 1, through: 64 });
    await expireLease();
    const second = (await acquire(store))!;
    expect((await store.loadEvent(event))!.reserved).toBe(64 + GAP);
    const first = 64 + GAP + 1;
    await store.reserveNumbers(second, { event, first, through: first + 63 });
    await store.releaseLease(second, [{ event, issuedThrough: first + 2 }]);
    const third = await acquire(store);
    expect(third?.epoch).toBe(second.epoch + 1);
    const record = (await store.loadEvent(event))!;
    expect(record.reserved).toBe(first + 2);
    expect(record.blocks.map(({ issuedThrough }) => issuedThrough)).toEqual([0, first + 2]);
  });

  it("law 1: skips them also in an event that is over by its own time: the store's clock may be ahead of the mint's", async () => {
    const { store, lead, expireLease } = await led();
    const over = settings({ event: `event-${(names += 1)}`, endsAt: at });
    await store.createEvent(lead, { settings: over, at, audit });
    await expireLease();
    await acquire(store);
    expect((await store.loadEvent(over.event))!.reserved).toBe(GAP);
  });

  it("gives a block back whole when none of it was given", async () => {
    const { store, lead, event } = await led();
    await store.reserveNumbers(lead, { event, first: 1, through: 64 });
    await store.releaseLease(lead, [{ event, issuedThrough: 0 }]);
    expect(await store.loadEvent(event)).toMatchObject({ reserved: 0, blocks: [] });
  });

  it("gives back no number that was given from a block that a failover has forgotten", async () => {
    const { store, lead, event } = await led();
    await store.releaseLease(lead, [{ event, issuedThrough: 40 }]);
    await acquire(store);
    expect((await store.loadEvent(event))!.reserved).toBe(40);
  });

  it("stores a step whole, and reads it back as it was", async () => {
    const { store, event, segment } = await committed();
    const record = (await store.loadEvent(event))!;
    expect(record.segments).toEqual([segment]);
    expect(record.progress.line).toMatchObject({ nextNumber: 11, granted: 10 });
    expect(record.blocks[0]?.issuedThrough).toBe(20);
    expect(record.lineVersion).toBe(1);
  });

  it("refuses a step that was planned on another state, whole", async () => {
    const { store, lead, event } = await committed();
    const before = await store.loadEvent(event);
    const stale = { event, lineVersion: 0, settle: [], decide: () => ({ issuedThrough: 40 }) };
    await expect(store.step(lead, stale)).rejects.toThrow(LineMovedError);
    expect(await store.loadEvent(event)).toEqual(before);
  });

  it("writes nothing of a step that was decided too long ago", async () => {
    const { store, lead, event } = await committed();
    const before = await store.loadEvent(event);
    const step = { event, lineVersion: 1, settle: [], decide: () => ({ issuedThrough: 40 }) };
    const late = store.step(lead, { ...step, isFresh: () => false });
    await expect(late).rejects.toMatchObject({ code: "unavailable" });
    expect(await store.loadEvent(event)).toEqual(before);
    await store.step(lead, { ...step, isFresh: () => true });
    expect((await store.loadEvent(event))!.lineVersion).toBe(2);
  });

  it("records a claim once, and knows it again", async () => {
    const { store, lead, event, segment } = await committed();
    const claim = { n: 3, segment: segment.id };
    for (let round = 0; round < 2; round += 1) {
      const granted = await store.recordClaims(lead, { event, at, fresh: [claim], again: [] });
      expect([...granted]).toEqual([3]);
    }
    const again = [claim, { n: 4, segment: segment.id }];
    expect([...(await store.recordClaims(lead, { event, at, fresh: [], again }))]).toEqual([3]);
    expect((await store.tally(event)).claimed).toBe(1);
  });

  it("counts claims when it settles, and records none afterwards", async () => {
    const { store, lead, event, segment } = await committed();
    const of = (n: number) => ({ n, segment: segment.id });
    await store.recordClaims(lead, { event, at, fresh: [of(1), of(2)], again: [] });
    let seen: ReadonlyMap<number, number> = new Map();
    await store.step(lead, {
      event,
      lineVersion: 1,
      settle: [segment.id],
      decide: (claimed) => {
        seen = claimed;
        return { settled: [{ id: segment.id, claimed: 2, lapsed: 8 }] };
      },
    });
    expect([...seen]).toEqual([[segment.id, 2]]);
    const late = await store.recordClaims(lead, { event, at, fresh: [of(2), of(3)], again: [] });
    expect([...late]).toEqual([2]);
    expect((await store.loadEvent(event))!.segments).toEqual([]);
  });

  it("finds the latest slot of a number, also when a hold cut an earlier one", async () => {
    const { store, lead, event, segment } = await committed();
    const since = epochMs(at + 4_000);
    const anew = {
      base: ticketNumber(6),
      count: 5,
      from: epochMs(at + 60_000),
      until: epochMs(at + 65_000),
    };
    const done = await store.step(lead, {
      event,
      lineVersion: 1,
      settle: [],
      decide: () => ({
        cutSegments: [{ id: segment.id, cutAfter: since }],
        cut: { since, until: epochMs(at + 60_000) },
        segments: [anew],
      }),
    });
    const places = await store.findPlaces(event, [5, 6, 10, 11]);
    expect(places.get(5)?.segment).toEqual({ ...segment, cutAfter: since });
    expect(places.get(6)?.segment).toEqual(done.segments[0]);
    expect(places.get(10)?.segment).toEqual(done.segments[0]);
    expect(places.has(11)).toBe(false);
    expect((await store.loadEvent(event))!.cuts).toEqual([{ since, until: epochMs(at + 60_000) }]);
  });

  it("counts no claim of a slot that a hold has cut", async () => {
    const { store, lead, event, segment } = await committed();
    const of = (n: number) => ({ n, segment: segment.id });
    const fresh = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(of);
    await store.recordClaims(lead, { event, at, fresh, again: [] });
    const since = epochMs(at + 4_000);
    await store.step(lead, {
      event,
      lineVersion: 1,
      settle: [],
      decide: () => ({
        cutSegments: [{ id: segment.id, cutAfter: since }],
        cut: { since, until: epochMs(at + 60_000) },
      }),
    });
    let seen: ReadonlyMap<number, number> = new Map();
    await store.step(lead, {
      event,
      lineVersion: 2,
      settle: [segment.id],
      decide: (claimed) => {
        seen = claimed;
        return {};
      },
    });
    expect([...seen]).toEqual([[segment.id, 5]]);
  });

  it("finds a slot that was given anew within a longer run than before", async () => {
    const { store, lead, event, segment } = await committed();
    const since = epochMs(at - 1);
    const piece = (base: number, count: number, from: number) => ({
      base: ticketNumber(base),
      count,
      from: epochMs(at + from),
      until: epochMs(at + from + 5_000),
    });
    const first = await store.step(lead, {
      event,
      lineVersion: 1,
      settle: [],
      decide: () => ({
        cutSegments: [{ id: segment.id, cutAfter: since }],
        segments: [piece(1, 5, 10_000), piece(6, 5, 15_000)],
      }),
    });
    const again = await store.step(lead, {
      event,
      lineVersion: 2,
      settle: [],
      decide: () => ({
        cutSegments: first.segments.map(({ id }) => ({ id, cutAfter: since })),
        segments: [piece(1, 10, 30_000)],
      }),
    });
    const places = await store.findPlaces(event, [1, 5, 6, 10]);
    expect([...places.values()].map(({ segment: { id } }) => id)).toEqual(
      [1, 5, 6, 10].map(() => again.segments[0]!.id),
    );
  });

  it("forgets the claim of a slot that a hold cut, and takes it anew in the new slot", async () => {
    const { store, lead, event, segment } = await committed();
    const claims = [1, 9].map((n) => ({ n, segment: segment.id }));
    await store.recordClaims(lead, { event, at, fresh: claims, again: [] });
    const done = await store.step(lead, {
      event,
      lineVersion: 1,
      settle: [],
      decide: () => ({
        cutSegments: [{ id: segment.id, cutAfter: epochMs(at + 4_000) }],
        segments: [
          {
            base: ticketNumber(9),
            count: 1,
            from: epochMs(at + 60_000),
            until: epochMs(at + 61_000),
          },
        ],
      }),
    });
    expect((await store.tally(event)).claimed).toBe(1);
    const claim = { n: 9, segment: done.segments[0]!.id };
    expect((await store.recordClaims(lead, { event, at, fresh: [], again: [claim] })).size).toBe(0);
    await store.recordClaims(lead, { event, at, fresh: [claim], again: [] });
    expect((await store.findPlaces(event, [9])).get(9)?.claimed).toBe(true);
    expect((await store.tally(event)).claimed).toBe(2);
  });

  it("keeps those who wait on demand in order", async () => {
    const { store, lead, event } = await committed();
    const run = (position: number, first: number, last = first) => ({ position, first, last });
    const changes: EventChange[] = [
      { demandSet: [run(1, 7), run(2, 3)] },
      { demandSet: [run(4, 5)] },
      { demandDone: [2], demandSet: [run(0, 8, 9)] },
    ];
    for (const [index, change] of changes.entries()) {
      const request = { event, lineVersion: index + 1, settle: [], decide: () => change };
      await store.step(lead, request);
    }
    expect((await store.loadEvent(event))!.demand).toEqual([run(0, 8, 9), run(1, 7), run(4, 5)]);
  });

  it("writes down what an organizer did, together with the deed", async () => {
    const { store, lead, event } = await committed();
    const hold = { since: at, scope: "all" as const, reason: "door" };
    const supply = {
      outAt: undefined,
      seq: 0,
      lastCall: { at: undefined, seq: 0 },
      left: { atMost: undefined, seq: 0 },
    };
    const facts = { hold, soldoutAt: undefined, endedAt: undefined, supply };
    await store.step(lead, {
      event,
      lineVersion: 1,
      settle: [],
      decide: () => ({ facts, audit: { actor: "test", action: "hold", detail: { scope: "all" } } }),
    });
    expect(await store.loadEvent(event)).toMatchObject({ facts, version: 2 });
  });

  it("names each event once", async () => {
    const { store, lead, event } = await led();
    const again = { settings: settings({ event, title: "Other" }), at, audit };
    expect(await store.createEvent(lead, again)).toBe(false);
    expect((await store.loadEvent(event))!.settings.title).toBe("Spring");
  });

  it("changes keys all together or not at all, on the set that it was planned on, and only for the leader", async () => {
    const { store, lead, expireLease } = await led();
    const { seq, keys } = await store.loadKeys();
    const publicJwk = (kid: string) =>
      ({ kty: "OKP", crv: "Ed25519", x: "x", kid, alg: "Ed25519", use: "sig" }) as const;
    const row = (name: string, state: KeyRow["state"], more: Partial<KeyRow> = {}): KeyRow => ({
      ...{ kid: `${name}-${seq}`, use: "line", state, since: at, createdAt: at, sealed: "sealed" },
      publicJwk: publicJwk(`${name}-${seq}`),
      ...more,
    });
    // Whatever another test of this store left to sign makes way.
    const old = keys
      .filter(({ state }) => state === "signing")
      .map((key) => ({ ...key, state: "retired" as const, sealed: undefined }));
    const rows = [
      row("a", "signing"),
      row("b", "signing", { use: "admission" }),
      row("c", "staged", { firstSeq: seq + 5 }),
    ];
    const entry = { actor: "test", action: "key-stage", detail: {} };
    await store.changeKeys(lead, {
      seq,
      nextSeq: seq + 5,
      rows: [...old, ...rows],
      audit: [entry],
    });
    const stored = await store.loadKeys();
    expect(stored.seq).toBe(seq + 5);
    expect(stored.keys).toEqual(expect.arrayContaining(rows));

    const over = row("a", "retiring", { signedUntil: epochSeconds(9), sealed: undefined });
    const next = row("c", "signing", { firstSeq: seq + 5 });
    const change = { nextSeq: seq + 6, rows: [next, over], audit: [] };
    await expect(store.changeKeys(lead, { ...change, seq })).rejects.toBeInstanceOf(KeysMovedError);
    expect(await store.loadKeys()).toEqual(stored);
    await store.changeKeys(lead, { ...change, seq: seq + 5 });
    expect((await store.loadKeys()).keys).toEqual(expect.arrayContaining([next, over]));
    // A second signer of one use: nothing of it is stored.
    const second = { seq: seq + 6, nextSeq: seq + 7, rows: [row("d", "signing")], audit: [] };
    await expect(store.changeKeys(lead, second)).rejects.toThrow(/signs|signing_keys_one_signing/);
    expect((await store.loadKeys()).seq).toBe(seq + 6);

    await expireLease();
    await acquire(store);
    const late = { seq: seq + 6, nextSeq: seq + 8, rows: [row("e", "staged")], audit: [] };
    await expect(store.changeKeys(lead, late)).rejects.toBeInstanceOf(LeaseLostError);
    expect((await store.loadKeys()).seq).toBe(seq + 6);
  });
}

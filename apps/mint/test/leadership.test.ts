import { epochMs } from "@vestibule/kernel/units";
import { AppError } from "@vestibule/kernel/app-error";
import { silentLog } from "@vestibule/service/log";
import { FakeClock } from "@vestibule/testkit/fake-clock";
import { expect, it } from "vitest";
import { Leadership } from "../src/lead/leadership.ts";
import { LineTerm } from "../src/lead/line-term.ts";
import {
  EPOCHS_PER_HISTORY,
  LEASE_RENEW_EVERY_MS,
  LEASE_TTL_MS,
  SAFETY_GAP_NUMBERS,
} from "../src/limits.ts";
import { HandTimers } from "./support/hand-timers.ts";
import { MemoryStore } from "./support/memory-store.ts";
import { settings } from "./support/settings.ts";
import { codeOf } from "./support/world.ts";

const away = () => new AppError("unavailable", { internal: "PostgreSQL: ECONNREFUSED" });

/** A leading mint with one event, whose statements are counted and not signed. */
async function leading(options: { history?: undefined } = {}) {
  const clock = new FakeClock();
  const timers = new HandTimers(clock);
  const store = new MemoryStore(clock);
  if ("history" in options) store.history = options.history;
  let signed = 0;
  const said: string[] = [];
  const log = { ...silentLog, warn: (message: string) => void said.push(message) };
  const sign = async () => `statement ${(signed += 1)}`;
  const leadership: Leadership<LineTerm> = new Leadership({
    store,
    timers,
    holder: "this one",
    log,
    begin: (lead, onLost) =>
      LineTerm.begin({
        lead,
        store,
        clock,
        timers,
        issuer: "https://mint.example",
        signer: { drip: sign, manifest: sign, keysSeq: () => 1 },
        log: silentLog,
        onLost,
        isConfirmed: () => leadership.isConfirmed,
      }),
  });
  leadership.start();
  await expect.poll(() => leadership.term).toBeDefined();
  const term = leadership.term!;
  const audit = { actor: "test", action: "create", detail: {} };
  await term.create(settings(), epochMs(clock.now()), audit);
  const entry = term.entry("spring")!;

  return {
    clock,
    store,
    leadership,
    entry,
    said,
    signed: () => signed,
    drip: () => codeOf(term.drip(entry)),
    manifest: () => codeOf(term.manifest()),
    /** Time goes by; everything that is due runs to its end. */
    pass: async (ms: number) => {
      for (let left = ms; left > 0; left -= LEASE_RENEW_EVERY_MS) {
        clock.advance(Math.min(left, LEASE_RENEW_EVERY_MS));
        timers.fire();
        await new Promise(setImmediate);
      }
    },
  };
}

it("a leader that cannot renew its lease says nothing once the lease may have run out", async () => {
  const mint = await leading();
  await mint.pass(10_000);
  expect([await mint.drip(), await mint.manifest()]).toEqual(["ok", "ok"]);
  await mint.entry.line.sequencer.refilled();
  const renewedAt = mint.clock.now();

  mint.store.trouble = away();
  await mint.pass(LEASE_TTL_MS - LEASE_RENEW_EVERY_MS);
  expect(await mint.drip()).toBe("ok");
  mint.clock.set(renewedAt + LEASE_TTL_MS);
  const signed = mint.signed();
  expect([await mint.drip(), await mint.manifest()]).toEqual(["unavailable", "unavailable"]);
  expect(mint.leadership.isConfirmed).toBe(false);
  expect(mint.signed()).toBe(signed);
  // It leads until it hears otherwise: numbers that are reserved are its own.
  expect(mint.leadership.term).toBeDefined();
  expect(mint.entry.line.sequencer.take()).toBe(1);

  mint.store.trouble = undefined;
  await mint.pass(2_000);
  expect(mint.leadership.isConfirmed).toBe(true);
  expect([await mint.drip(), await mint.manifest()]).toEqual(["ok", "ok"]);
  await mint.leadership.stop();
});

it("a leader that slept through a takeover says nothing, not even what it said before", async () => {
  const mint = await leading();
  await mint.pass(5_000);
  expect(await mint.drip()).toBe("ok");
  mint.clock.advance(LEASE_TTL_MS + 1);
  const other = await mint.store.acquireLease({ holder: "other", ttlMs: 60_000, gapNumbers: 1 });
  expect(other.lead).toBeDefined();
  expect([await mint.drip(), await mint.manifest()]).toEqual(["unavailable", "unavailable"]);
  await mint.pass(1_000);
  expect(mint.leadership.term).toBeUndefined();
  await mint.leadership.stop();
});

it("a leader whose database moved to another history stores what it gave and leads anew, behind whatever may be forgotten", async () => {
  const mint = await leading();
  const { sequencer } = mint.entry.line;
  await sequencer.refilled();
  expect([sequencer.take(), sequencer.take()]).toEqual([1, 2]);
  const { epoch } = mint.leadership.term!.lead;
  mint.store.history = "1/2";
  await mint.pass(2_000);
  const term = mint.leadership.term!;
  expect(term.lead).toMatchObject({ epoch: epoch + 1 + EPOCHS_PER_HISTORY, history: "1/2" });
  const { line } = term.entry("spring")!;
  expect(line.record.blocks).toMatchObject([{ first: 1, last: 2, issuedThrough: 2 }]);
  expect(line.sequencer.first).toBeGreaterThan(2 + 2 * SAFETY_GAP_NUMBERS);
  // The old term gives nothing more.
  expect(sequencer.take()).toBeUndefined();
  expect(mint.said).toEqual(["database-moved", "database-forgot"]);
  await mint.leadership.stop();
});

it("a mint that led never leads from a state older than what it signed, also where the server does not say that it forgot", async () => {
  const mint = await leading({ history: undefined });
  const forget = mint.store.snapshot();
  await mint.pass(2_000);
  mint.store.expireLease();
  const away = await mint.store.acquireLease({ holder: "other", ttlMs: 1, gapNumbers: 100_000 });
  expect(away.lead).toBeDefined();
  await mint.pass(2_000);
  const term = mint.leadership.term!;
  const { line } = term.entry("spring")!;
  await line.sequencer.refilled();
  const given = line.sequencer.take()!;
  expect(given).toBeGreaterThan(100_000);

  forget();
  mint.store.expireLease();
  await mint.pass(3_000);
  const next = mint.leadership.term!;
  expect(next.lead.epoch).toBeGreaterThan(term.lead.epoch + EPOCHS_PER_HISTORY);
  expect(next.entry("spring")!.line.sequencer.first).toBeGreaterThan(given + SAFETY_GAP_NUMBERS);
  expect(mint.said).toContain("database-forgot");
  await mint.leadership.stop();
});

it("a clean end gives its numbers back after a reservation that was on its way, so that it leaves no gap", async () => {
  const mint = await leading();
  const { sequencer } = mint.entry.line;
  await sequencer.refilled();
  sequencer.take();
  const { promise, resolve } = Promise.withResolvers<void>();
  const order: string[] = [];
  const { store } = mint;
  const reserve = store.reserveNumbers.bind(store);
  const release = store.releaseLease.bind(store);
  store.reserveNumbers = async (...args) => {
    await promise;
    order.push("reserved");
    return reserve(...args);
  };
  store.releaseLease = async (...args) => {
    order.push("released");
    return release(...args);
  };
  sequencer.reserveAhead();
  const stopped = mint.leadership.stop();
  await new Promise(setImmediate);
  resolve();
  await stopped;
  expect(order).toEqual(["reserved", "released"]);
  expect(mint.store.recordOf("spring")).toMatchObject({ reserved: 1 });
});

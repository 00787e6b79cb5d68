import { epochMs } from "@vestibule/kernel/units";
import { AppError } from "@vestibule/kernel/app-error";
import { silentLog } from "@vestibule/service/log";
import { FakeClock } from "@vestibule/testkit/fake-clock";
import { expect, it } from "vitest";
import { Leadership } from "../src/lead/leadership.ts";
import { LineTerm } from "../src/lead/line-term.ts";
import { LEASE_RENEW_EVERY_MS, LEASE_TTL_MS } from "../src/limits.ts";
import { HandTimers } from "./support/hand-timers.ts";
import { MemoryStore } from "./support/memory-store.ts";
import { settings } from "./support/settings.ts";
import { codeOf } from "./support/world.ts";

const away = () => new AppError("unavailable", { internal: "PostgreSQL: ECONNREFUSED" });

/** A leading mint with one event, whose statements are counted and not signed. */
async function leading() {
  const clock = new FakeClock();
  const timers = new HandTimers(clock);
  const store = new MemoryStore(clock);
  let signed = 0;
  const sign = async () => `statement ${(signed += 1)}`;
  const leadership: Leadership<LineTerm> = new Leadership({
    store,
    timers,
    holder: "this one",
    log: silentLog,
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
  expect(other).toBeDefined();
  expect([await mint.drip(), await mint.manifest()]).toEqual(["unavailable", "unavailable"]);
  await mint.pass(1_000);
  expect(mint.leadership.term).toBeUndefined();
  await mint.leadership.stop();
});

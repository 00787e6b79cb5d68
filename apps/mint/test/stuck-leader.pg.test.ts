/** A leader that is lost in the middle of a grant: its connection keeps the lease's row locked, and nobody ends it. */
import { connectDatabase, type Database } from "@vestibule/db/connect";
import { migrate } from "@vestibule/db/migrate";
import { epochMs, ticketNumber } from "@vestibule/kernel/units";
import { freshDatabase } from "@vestibule/testkit/fresh-database";
import { Wire, type WireFault } from "@vestibule/testkit/wire";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MIGRATIONS, postgresStore } from "../src/store/postgres-store.ts";
import type { Lead, MintStore } from "../src/store/store.ts";
import { settings } from "./support/settings.ts";
import { codeOf } from "./support/world.ts";

const at = epochMs(1_700_000_000_000);
/** Before PostgreSQL ends a connection of its own accord: after 4 s, or never. */
const TAKEOVER_MS_MAX = 3_500;

describe("a leader that is lost in the middle of a grant", () => {
  let wire: Wire;
  let near: Database;
  let far: Database;
  let lost: MintStore;
  let lead: Lead;
  beforeEach(async () => {
    const url = await freshDatabase();
    wire = await Wire.open();
    near = connectDatabase({ url, applicationName: "standby" });
    far = connectDatabase({ url: wire.through(url), applicationName: "leader", connectionsMax: 1 });
    await migrate(near, MIGRATIONS);
    lost = postgresStore(far);
    const held = await lost.acquireLease({ holder: "lost", ttlMs: 500, gapNumbers: 10 });
    lead = held.lead!;
    const audit = { actor: "test", action: "create", detail: {} };
    await lost.createEvent(lead, { settings: settings(), at, audit });
  });
  afterEach(async () => {
    wire.close();
    await Promise.all([near.close(), far.close({ graceMs: 0 })]);
  });

  const step = (lose: () => void) =>
    codeOf(
      lost.step(lead, {
        ...{ event: "spring", lineVersion: 0, settle: [] },
        decide: () => {
          lose();
          // A statement that this connection has not prepared yet: PostgreSQL waits for its second half.
          return { segments: [{ base: ticketNumber(1), count: 1, from: at, until: at }] };
        },
      }),
    );

  const cuts: readonly (readonly [string, WireFault])[] = [
    ["while it has the word", "lose"],
    ["while a statement is prepared, for which PostgreSQL has no timeout", "lose-answers"],
  ];

  it.for(cuts)("keeps nobody from leading: %s", { timeout: 60_000 }, async ([, fault]) => {
    const grant = step(() => wire.break(fault));
    const from = performance.now();
    const standby = postgresStore(near);
    const ask = () => standby.acquireLease({ holder: "next", ttlMs: 60_000, gapNumbers: 10 });
    await expect
      .poll(async () => (await ask().catch(() => undefined))?.lead?.epoch, {
        interval: 500,
        timeout: 20_000,
      })
      .toBe(lead.epoch + 1);
    expect(performance.now() - from).toBeLessThan(TAKEOVER_MS_MAX);
    wire.close();
    expect(await grant).toBe("unavailable");
    expect((await standby.loadEvent("spring"))!.segments).toEqual([]);
  });
});

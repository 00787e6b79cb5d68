/**
 * A claim on record, twice in one process: by the mint's claim desk, which records many with one statement, and by
 * a bare insert each. Each side has a database of its own with the mint's tables on the same server, and as many
 * connections and claims under way.
 */
import { connectDatabase, type Database } from "@vestibule/db/connect";
import { migrate } from "@vestibule/db/migrate";
import { systemClock } from "@vestibule/kernel/clock.system";
import { addMs, epochMs, ticketNumber } from "@vestibule/kernel/units";
import { eventSettingsSchema } from "@vestibule/contracts/event-settings";
import { parse } from "@vestibule/contracts/parse";
import { ClaimDesk } from "@vestibule/mint/src/line/claim-desk.ts";
import { EventLine } from "@vestibule/mint/src/line/event-line.ts";
import { MIGRATIONS, postgresStore } from "@vestibule/mint/src/store/postgres-store.ts";
import type { Lead, MintStore } from "@vestibule/mint/src/store/store.ts";
import postgres from "postgres";

import { type Deed, serveSides } from "../sides/serve-sides.ts";

export const CONNECTIONS = 10;
/** As a mint has them when many turns come together. */
export const UNDER_WAY = 256;
const EVENT = "bench";
/** More than any run claims, in one segment that opens in the future: all of them may be claimed now. */
const SLOTS = 10_000_000;
const OPENS_IN_MS = 600_000;
const OPEN_FOR_MS = 36_000_000;
const LEASE_MS = 86_400_000;

/** An event with one segment of committed slots. */
async function prepare(url: string): Promise<{ database: Database; store: MintStore; lead: Lead }> {
  const database = connectDatabase({
    url,
    applicationName: "bench",
    connectionsMax: CONNECTIONS,
  });
  await migrate(database, MIGRATIONS);
  const store = postgresStore(database);
  const { lead } = await store.acquireLease({ holder: "bench", ttlMs: LEASE_MS, gapNumbers: 1 });
  if (lead === undefined) throw new Error("somebody leads already");
  const now = systemClock.now();
  const settings = parse(eventSettingsSchema, {
    ...{ event: EVENT, title: "Bench", ratePerMinute: 60_000, endsAt: now + LEASE_MS },
    ...{ hosts: ["bench.example"], paths: ["/bench"], homePath: "/bench" },
  });
  if (!settings.ok) throw new Error("the bench's event is a good one");
  const audit = { actor: "bench", action: "create", detail: {} };
  await store.createEvent(lead, { settings: settings.value, at: now, audit });
  const from = addMs(now, OPENS_IN_MS);
  const until = addMs(from, OPEN_FOR_MS);
  await store.step(lead, {
    event: EVENT,
    lineVersion: 0,
    settle: [],
    decide: () => ({
      segments: [{ base: ticketNumber(1), count: SLOTS, from, until }],
      progress: {
        line: {
          ...{ nextNumber: ticketNumber(SLOTS + 1), frontier: epochMs(until) },
          ...{ giveBackMicro: 0, granted: SLOTS },
        },
        serving: 0,
        lapsed: 0,
      },
    }),
  });
  return { database, store, lead };
}

async function candidate(url: string): Promise<Deed> {
  const { store, lead } = await prepare(url);
  const record = await store.loadEvent(EVENT);
  if (record === undefined) throw new Error("the event is there");
  const onLeaseLost = (): void => {
    throw new Error("the lease is the bench's own");
  };
  const line = new EventLine(record, { lead, store, clock: systemClock, onLeaseLost });
  const desk = new ClaimDesk({ line, clock: systemClock });
  return async (n) => void (await desk.claim(n));
}

/** What nobody can leave out: the row, on disk. */
async function floor(url: string): Promise<Deed> {
  const { database } = await prepare(url);
  const [segment] = await database.sql<{ id: number }[]>`select id from segments`;
  const id = segment?.id ?? 0;
  await database.close();
  const sql = postgres(url, { max: CONNECTIONS, fetch_types: false, onnotice: () => {} });
  return async (n) =>
    void (await sql`
      insert into claims (event, n, segment, claimed_at_ms)
      values (${EVENT}, ${n}, ${id}, ${Date.now()})`);
}

if (import.meta.main) serveSides({ candidate, floor, underWay: UNDER_WAY });

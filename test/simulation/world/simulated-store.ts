/**
 * `MintStore` over a network to the simulated database: the same statements, fences, locks, deadlines and round trips
 * as the PostgreSQL one, which passes the same conformance suite.
 */
import { LEASE_DEADLINE_MS, STEP_DEADLINE_MS } from "@vestibule/mint/src/limits.ts";
import type {
  EventChange,
  Lead,
  LeaseAnswer,
  LeaseRequest,
  MintStore,
  StepDone,
  StepRequest,
} from "@vestibule/mint/src/store/store.ts";
import type { MemoryStore } from "@vestibule/mint/test/support/memory-store.ts";
import { type DatabaseServer, type ServerTransaction, away } from "./database.ts";
import type { Machine } from "./machine.ts";
import type { Network } from "./network.ts";

const DEADLINE_MS = 5_000;

export interface StoreParts {
  readonly server: DatabaseServer;
  readonly network: Network;
  /** The process whose connections these are. */
  readonly client: Machine;
  /** The way to the database, which can be cut. */
  readonly link: string;
  /** Told of every step at its commit. */
  readonly onStep?: (step: SteppedAt) => void;
}

/** By the client's clock: when it decided, and when it sent the commit. */
export interface SteppedAt {
  readonly done: StepDone;
  readonly decidedAt: number;
  readonly sentAt: number;
}

type Reply<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: unknown };

interface Statement<Value> {
  readonly what: string;
  readonly locks: readonly (readonly [string, "share" | "alone"])[];
  readonly deadlineMs?: number;
  readonly run: (rows: MemoryStore) => Promise<Value>;
}

/** @returns the store as one mint sees it. */
export function simulatedStore(parts: StoreParts): MintStore {
  const grants = "lease";
  const read = <Value>(run: (rows: MemoryStore) => Promise<Value>): Promise<Value> =>
    roundTrip(parts, DEADLINE_MS, () => parts.server.begin().read(run));
  const write = <Value>({ what, locks, deadlineMs = DEADLINE_MS, run }: Statement<Value>) =>
    roundTrip(parts, deadlineMs, async () => {
      const transaction = parts.server.begin();
      for (const [name, mode] of locks) await transaction.lock(name, mode);
      return transaction.commit(what, run);
    });

  return {
    isUp: () => read((rows) => rows.isUp()).catch(() => false),
    acquireLease: (request) =>
      roundTrip(parts, LEASE_DEADLINE_MS, () => acquire(parts.server, request)),
    renewLease: (lead, ttlMs) =>
      write({
        what: "renew",
        // Renewals and grants do not wait for each other; a takeover keeps both away.
        locks: [[`${grants}:row`, "share"]],
        deadlineMs: LEASE_DEADLINE_MS,
        run: (rows) => rows.renewLease(lead, ttlMs),
      }),
    releaseLease: (lead, ends) =>
      write({
        what: "release",
        locks: [
          [`${grants}:row`, "alone"],
          [grants, "alone"],
        ],
        run: (rows) => rows.releaseLease(lead, ends),
      }),
    loadEvents: () => read((rows) => rows.loadEvents()),
    loadEvent: (event) => read((rows) => rows.loadEvent(event)),
    createEvent: (lead, request) =>
      write({
        what: "create",
        locks: [[grants, "share"]],
        run: (rows) => rows.createEvent(lead, request),
      }),
    reserveNumbers: (lead, request) =>
      write({
        what: `reserve through ${request.through}`,
        locks: [
          [grants, "share"],
          [`event:${request.event}`, "alone"],
        ],
        run: (rows) => rows.reserveNumbers(lead, request),
      }),
    recordPremint: (lead, request) =>
      write({
        what: `premint ${request.premint.batch}`,
        locks: [
          [grants, "share"],
          [`event:${request.event}`, "alone"],
        ],
        run: (rows) => rows.recordPremint(lead, request),
      }),
    archiveEvent: (lead, request) =>
      write({
        what: `archive ${request.event}`,
        locks: [
          [grants, "share"],
          [`event:${request.event}`, "alone"],
        ],
        run: (rows) => rows.archiveEvent(lead, request),
      }),
    findArchived: (event) => read((rows) => rows.findArchived(event)),
    clearArchived: (event, rowsMax) =>
      write({
        what: `clear ${event}`,
        locks: [],
        run: (rows) => rows.clearArchived(event, rowsMax),
      }),
    findPremint: (event, batch) => read((rows) => rows.findPremint(event, batch)),
    step: (lead, request) => step(parts, lead, request),
    recordClaims: (lead, request) =>
      write({
        what: `claims ${request.fresh.map(({ n }) => n).join(",")}`,
        locks: [
          [grants, "share"],
          [`segments:${request.event}`, "share"],
        ],
        run: (rows) => rows.recordClaims(lead, request),
      }),
    findPlaces: (event, numbers) => read((rows) => rows.findPlaces(event, numbers)),
    tally: (event) => read((rows) => rows.tally(event)),
    loadKeys: () => read((rows) => rows.loadKeys()),
    changeKeys: (lead, change) =>
      write({
        what: "keys",
        locks: [
          [grants, "share"],
          ["keys", "alone"],
        ],
        run: (rows) => rows.changeKeys(lead, change),
      }),
  };
}

/** A first look without a lock; then the row is locked against every grant that is under way, and looked at again. */
async function acquire(server: DatabaseServer, request: LeaseRequest): Promise<LeaseAnswer> {
  const transaction = server.begin();
  const look = (rows: MemoryStore) => rows.lookAtLease(request.known);
  const { isFree, seen } = await transaction.read(look);
  if (!isFree) return { seen };
  await transaction.lock("lease:row", "alone");
  await transaction.lock("lease", "alone");
  if (!(await transaction.read(look)).isFree) {
    transaction.abort();
    return { seen };
  }
  return transaction.commit(`acquire by ${request.holder}`, (rows) => rows.acquireLease(request));
}

/**
 * Three round trips: fence, lock and count; then the client decides and sends its writes; then it commits, unless it
 * has given up meanwhile. A client that goes silent in between is cut off by the server.
 */
async function step(parts: StoreParts, lead: Lead, request: StepRequest): Promise<StepDone> {
  const { client } = parts;
  let isLate = false;
  const expired = Promise.withResolvers<never>();
  const cancel = client.after(STEP_DEADLINE_MS, () => {
    isLate = true;
    expired.reject(away("the deadline passed"));
  });
  const running = (async () => {
    const transaction = parts.server.begin();
    const claimed = await roundTrip(parts, DEADLINE_MS, () => prepare(transaction, lead, request));
    try {
      const change = request.decide(claimed);
      const decidedAt = client.clock.now();
      await roundTrip(parts, DEADLINE_MS, () => lockMore(transaction, request.event, change));
      if (isLate) throw away("gave up before its commit");
      if (request.isFresh?.() === false) throw away("a step was decided too long ago");
      const sentAt = client.clock.now();
      return await roundTrip(parts, DEADLINE_MS, () => {
        transaction.resume();
        return transaction.commit(whatOf(change), async (rows) => {
          const { isFresh: _asked, ...asked } = request;
          const done = await rows.step(lead, { ...asked, decide: () => change });
          parts.onStep?.({ done, decidedAt, sentAt });
          return done;
        });
      });
    } catch (error) {
      // After a commit, or on a dead connection, there is nothing to roll back, and the server knows.
      await roundTrip(parts, DEADLINE_MS, async () => transaction.rollBack()).catch(() => {});
      throw error;
    }
  })();
  running.catch(() => {});
  try {
    return await Promise.race([running, expired.promise]);
  } finally {
    cancel();
  }
}

/** Stops a step of the store in memory where its client has the word. */
class Asked extends Error {}

async function prepare(
  transaction: ServerTransaction,
  lead: Lead,
  request: StepRequest,
): Promise<ReadonlyMap<number, number>> {
  await transaction.lock("lease", "share");
  await transaction.lock(`event:${request.event}`, "alone");
  if (request.settle.length > 0) await transaction.lock(`segments:${request.event}`, "alone");
  let counts: ReadonlyMap<number, number> = new Map();
  try {
    await transaction.read((rows) =>
      rows.step(lead, {
        ...request,
        decide: (claimed) => {
          counts = claimed;
          throw new Asked();
        },
      }),
    );
  } catch (error) {
    if (!(error instanceof Asked)) {
      transaction.abort();
      throw error;
    }
  }
  transaction.idle();
  return counts;
}

async function lockMore(
  transaction: ServerTransaction,
  event: string,
  { cutSegments = [] }: EventChange,
): Promise<void> {
  transaction.resume();
  if (cutSegments.length > 0) await transaction.lock(`segments:${event}`, "alone");
  transaction.idle();
}

function whatOf({ segments = [], audit, settled = [], issuedThrough }: EventChange): string {
  const slots = segments.map(({ base, count, from }) => `${base}+${count}@${from}`);
  return [
    "step",
    ...(audit === undefined ? [] : [audit.action]),
    ...slots,
    ...(settled.length === 0 ? [] : [`settles ${settled.length}`]),
    ...(issuedThrough === undefined ? [] : [`issued ${issuedThrough}`]),
  ].join(" ");
}

/** One request on a connection: lost with it, and given up at the deadline. */
async function roundTrip<Value>(
  { server, network, client, link }: StoreParts,
  deadlineMs: number,
  work: () => Promise<Value>,
): Promise<Value> {
  const outcome = await network.call<Reply<Value>>({
    from: client,
    to: () => server.machine,
    link,
    deadlineMs,
    // A connection delivers everything once and in order, or nothing.
    isReliable: true,
    serve: () =>
      // Begun in a later turn: what it throws at once is an answer as well.
      Promise.resolve()
        .then(work)
        .then(
          (value) => ({ ok: true, value }),
          (error: unknown) => ({ ok: false, error }),
        ),
  });
  if (outcome.kind !== "answer") throw away(outcome.kind);
  if (outcome.answer.ok) return outcome.answer.value;
  throw outcome.answer.error;
}

/** The store in memory: passes the same conformance suite as PostgreSQL, and never waits. */
import type { ArchivedFigures } from "@vestibule/contracts/archive-api";
import { containsNumber, opensAt } from "@vestibule/drip/segment";
import { AppError } from "@vestibule/kernel/app-error";
import { assert } from "@vestibule/kernel/assert";
import type { Clock } from "@vestibule/kernel/clock";
import { type EpochMs, epochMs, ticketNumber, toSeconds } from "@vestibule/kernel/units";
import { applied } from "../../src/store/applied.ts";
import {
  type ArchiveRequest,
  type AuditEntry,
  type ClaimsRequest,
  type EventChange,
  type EventRecord,
  type KeyRow,
  type KeysChange,
  KeysMovedError,
  type Lead,
  type LeaseAnswer,
  LeaseLostError,
  type LeaseRequest,
  type LeaseSeen,
  LineMovedError,
  type MintStore,
  type NumberBlock,
  type PlaceFound,
  type Premint,
  type Renewal,
  type StepDone,
  type StepRequest,
  type StoredKeys,
  type StoredSegment,
} from "../../src/store/store.ts";
import { LEASE_AHEAD_MS_MAX } from "../../src/limits.ts";
import { planTakeover } from "../../src/store/takeover.ts";

interface Row {
  record: EventRecord;
  /** Every segment ever committed, settled or not. */
  segments: (StoredSegment & { settled: boolean })[];
  claims: Map<number, number>;
  /** `n slot` of slots that were made good. */
  credits: Set<string>;
  premints: Map<string, Premint>;
  archived?: { readonly at: EpochMs; readonly figures: ArchivedFigures };
}

export interface AuditRow extends AuditEntry {
  readonly event: string;
  readonly version: number;
}

export class MemoryStore implements MintStore {
  readonly audit: AuditRow[] = [];
  readonly keysAudit: AuditEntry[] = [];
  /** Set: every call fails with it, as when PostgreSQL is away. */
  trouble: Error | undefined;
  /** How often anything was asked of it. */
  calls = 0;
  readonly #clock: Clock;
  readonly #rows = new Map<string, Row>();
  #keys: StoredKeys = { seq: 0, keys: [] };
  /** `server/timeline`: moved on by a failover; `undefined`: this server does not say. */
  history: string | undefined = "1/1";
  #lease: Lead & { expiresAt: number; released: boolean } = {
    ...{ holder: "", epoch: 0, expiresAt: 0, released: true, history: undefined },
  };
  #segmentId = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many slots were made good. */
  creditsUsed(event: string): number {
    return this.#row(event).credits.size;
  }

  /** Everything ever committed for an event. */
  committed(event: string): readonly StoredSegment[] {
    return this.#row(event).segments;
  }

  recordOf(event: string): EventRecord | undefined {
    return this.#rows.get(event)?.record;
  }

  isClaimed(event: string, n: number, segment: number): boolean {
    return this.#row(event).claims.get(n) === segment;
  }

  /** What a replica has that lacks everything from now on: calling it puts that in place. */
  snapshot(): () => void {
    const copy = (rows: ReadonlyMap<string, Row>) =>
      [...rows].map(([event, row]): [string, Row] => [
        event,
        {
          ...row,
          segments: row.segments.map((segment) => ({ ...segment })),
          claims: new Map(row.claims),
          credits: new Set(row.credits),
          premints: new Map(row.premints),
        },
      ]);
    const rows = new Map(copy(this.#rows));
    const [lease, keys, segmentId] = [{ ...this.#lease }, this.#keys, this.#segmentId];
    return () => {
      this.#rows.clear();
      for (const [event, row] of copy(rows)) this.#rows.set(event, row);
      this.#lease = { ...lease };
      this.#keys = keys;
      this.#segmentId = segmentId;
    };
  }

  async isUp(): Promise<boolean> {
    return this.trouble === undefined;
  }

  /** As if its holder had not renewed it. */
  expireLease(): void {
    this.#lease.expiresAt = this.#clock.now() - 1;
  }

  /** The first look of a takeover. */
  async lookAtLease(known: LeaseRequest["known"]): Promise<{ isFree: boolean; seen: LeaseSeen }> {
    return this.#look(known);
  }

  #look(known: LeaseRequest["known"]): { isFree: boolean; seen: LeaseSeen } {
    this.#enter();
    const now = this.#clock.now();
    const { released, expiresAt: until, epoch } = this.#lease;
    const isForgotten = epoch < (known?.seen.epoch ?? 0);
    const isFree = released || isForgotten || now > until || until > now + LEASE_AHEAD_MS_MAX;
    return { isFree, seen: { epoch, until } };
  }

  async acquireLease({ holder, ttlMs, gapNumbers, known }: LeaseRequest): Promise<LeaseAnswer> {
    const { isFree, seen } = this.#look(known);
    if (!isFree) return { seen };
    const now = this.#clock.now();
    const { until } = seen;
    const { released, history: before } = this.#lease;
    const { history } = this;
    const { epoch, skip, forgotten } = planTakeover(
      { ...seen, released, history: before, silentMs: now - until + ttlMs },
      { history, seen: known?.seen ?? { epoch: 0, until: 0 }, gapNumbers },
    );
    const ends = new Map(known?.ends.map(({ event, issuedThrough }) => [event, issuedThrough]));
    for (const [event, row] of this.#rows) {
      const { reserved } = row.record;
      if (skip === 0 || row.archived !== undefined) continue;
      const from = forgotten === undefined ? 0 : (ends.get(event) ?? 0);
      row.record = { ...row.record, reserved: Math.max(reserved, from) + skip };
    }
    this.#lease = { holder, epoch, expiresAt: now + ttlMs, released: false, history };
    return { lead: { holder, epoch, history }, forgotten };
  }

  async renewLease(lead: Lead, ttlMs: number): Promise<Renewal> {
    this.#enter();
    if (!this.#holds(lead)) return "lost";
    if (lead.history !== undefined && lead.history !== this.history) return "moved";
    this.#lease.expiresAt = this.#clock.now() + ttlMs;
    return "held";
  }

  async releaseLease(
    lead: Lead,
    ends: readonly { event: string; issuedThrough: number }[],
  ): Promise<void> {
    this.#fence(lead);
    for (const { event, issuedThrough } of ends) {
      const row = this.#row(event);
      const own = row.record.blocks.find(({ epoch }) => epoch === lead.epoch);
      if (own === undefined) {
        const reserved = Math.max(row.record.reserved, issuedThrough);
        row.record = { ...row.record, reserved };
        continue;
      }
      const others = row.record.blocks.filter((block) => block !== own);
      const kept =
        issuedThrough < own.first ? [] : [{ ...own, last: issuedThrough, issuedThrough }];
      row.record = { ...row.record, reserved: issuedThrough, blocks: [...others, ...kept] };
    }
    this.#lease.released = true;
  }

  async loadEvents(): Promise<readonly EventRecord[]> {
    this.#enter();
    return [...this.#rows.values()]
      .filter(({ archived }) => archived === undefined)
      .map(({ record }) => record);
  }

  async loadEvent(event: string): Promise<EventRecord | undefined> {
    this.#enter();
    const row = this.#rows.get(event);
    return row?.archived === undefined ? row?.record : undefined;
  }

  async createEvent(
    lead: Lead,
    { settings, at, audit }: Parameters<MintStore["createEvent"]>[1],
  ): Promise<boolean> {
    this.#fence(lead);
    if (this.#rows.has(settings.event)) return false;
    this.#rows.set(settings.event, {
      segments: [],
      claims: new Map(),
      credits: new Set(),
      premints: new Map(),
      record: {
        settings,
        version: 1,
        createdAt: at,
        facts: {
          ...{ hold: undefined, soldoutAt: undefined, endedAt: undefined },
          supply: {
            outAt: undefined,
            seq: 0,
            lastCall: { at: undefined, seq: 0 },
            left: { atMost: undefined, seq: 0 },
          },
        },
        progress: {
          line: { nextNumber: ticketNumber(1), frontier: epochMs(0), giveBackMicro: 0, granted: 0 },
          serving: 0,
          lapsed: 0,
        },
        lineVersion: 0,
        reserved: 0,
        blocks: [],
        segments: [],
        demand: [],
        cuts: [],
      },
    });
    this.audit.push({ ...audit, event: settings.event, version: 1 });
    return true;
  }

  async reserveNumbers(
    lead: Lead,
    { event, first, through }: { event: string; first: number; through: number },
  ): Promise<void> {
    this.#fence(lead);
    const row = this.#row(event);
    const own: NumberBlock = row.record.blocks.find(({ epoch }) => epoch === lead.epoch) ?? {
      epoch: lead.epoch,
      first,
      last: through,
      issuedThrough: first - 1,
    };
    assert(own.first === first, "a block grows in place");
    row.record = {
      ...row.record,
      reserved: Math.max(row.record.reserved, through),
      blocks: [
        ...row.record.blocks.filter(({ epoch }) => epoch !== lead.epoch),
        { ...own, last: Math.max(own.last, through) },
      ],
    };
  }

  async recordPremint(
    lead: Lead,
    { event, premint, audit }: Parameters<MintStore["recordPremint"]>[1],
  ): Promise<Premint> {
    this.#fence(lead);
    const row = this.#row(event);
    const known = row.premints.get(premint.batch);
    if (known !== undefined) return known;
    const last = premint.first + premint.count - 1;
    const own = row.record.blocks.find(({ epoch }) => epoch === lead.epoch);
    assert(
      own !== undefined && own.first <= premint.first && own.last >= last,
      "a batch lies in the block of who gives it",
    );
    row.premints.set(premint.batch, premint);
    const issuedThrough = Math.max(own.issuedThrough, last);
    row.record = {
      ...row.record,
      blocks: row.record.blocks.map((block) => (block === own ? { ...own, issuedThrough } : block)),
    };
    this.audit.push({ ...audit, event, version: row.record.version });
    return premint;
  }

  async findPremint(event: string, batch: string): Promise<Premint | undefined> {
    this.#enter();
    return this.#row(event).premints.get(batch);
  }

  async archiveEvent(
    lead: Lead,
    { event, lineVersion, at, figures, audit }: ArchiveRequest,
  ): Promise<void> {
    this.#fence(lead);
    const row = this.#row(event);
    const { record, archived } = row;
    if (archived !== undefined || record.lineVersion !== lineVersion)
      throw new LineMovedError("moved");
    row.archived = { at, figures };
    const version = record.version + 1;
    row.record = { ...record, version, lineVersion: lineVersion + 1 };
    this.audit.push({ ...audit, event, version });
  }

  async findArchived(event: string): Promise<Row["archived"]> {
    this.#enter();
    return this.#rows.get(event)?.archived;
  }

  async clearArchived(event: string, rowsMax: number): Promise<number> {
    this.#enter();
    const row = this.#row(event);
    if (row.archived === undefined) return 0;
    const claims = [...row.claims.keys()].slice(0, rowsMax);
    for (const n of claims) row.claims.delete(n);
    const segments = row.segments.splice(0, rowsMax - claims.length);
    return claims.length + segments.length;
  }

  async step(lead: Lead, request: StepRequest): Promise<StepDone> {
    this.#fence(lead);
    const row = this.#row(request.event);
    if (row.record.lineVersion !== request.lineVersion) throw new LineMovedError("moved");
    const claimed = new Map(request.settle.map((id) => [id, this.#claimsOf(row, id)]));
    const change = request.decide(claimed);
    if (request.isFresh?.() === false) {
      throw new AppError("unavailable", { internal: "a step was decided too long ago" });
    }
    const used = (change.creditsUsed ?? []).map(({ n, slot }) => `${n} ${slot}`);
    // As a primary key does.
    if (used.some((credit, index) => row.credits.has(credit) || used.indexOf(credit) !== index)) {
      throw new Error("a slot is made good once");
    }
    for (const credit of used) row.credits.add(credit);
    const segments = (change.segments ?? []).map((segment) => ({
      ...segment,
      id: (this.#segmentId += 1),
    }));
    this.#apply(row, { lead, change, segments });
    for (const entry of [change.audit, change.note]) {
      if (entry === undefined) continue;
      this.audit.push({ ...entry, event: request.event, version: row.record.version });
    }
    return { change, segments };
  }

  async recordClaims(
    lead: Lead,
    { event, fresh, again }: ClaimsRequest,
  ): Promise<ReadonlySet<number>> {
    this.#fence(lead);
    const row = this.#row(event);
    for (const { n, segment } of fresh) {
      const open = row.segments.findLast(({ id }) => id === segment);
      const known = row.claims.get(n);
      const isFree =
        known === undefined || row.segments.find(({ id }) => id === known)?.settled === true;
      if (open !== undefined && !open.settled && isFree) row.claims.set(n, segment);
    }
    return new Set(
      [...fresh, ...again]
        .filter(({ n, segment }) => row.claims.get(n) === segment)
        .map(({ n }) => n),
    );
  }

  async findPlaces(
    event: string,
    numbers: readonly number[],
  ): Promise<ReadonlyMap<number, PlaceFound>> {
    this.#enter();
    const row = this.#row(event);
    const found = new Map<number, PlaceFound>();
    for (const n of numbers) {
      const segment = row.segments.findLast(
        (piece) => containsNumber(piece, n) && opensAt(piece, n) <= (piece.cutAfter ?? Infinity),
      );
      if (segment === undefined) continue;
      const { settled, ...stored } = segment;
      const claimed = row.claims.get(n) === segment.id;
      const creditUsed = row.credits.has(`${n} ${toSeconds(opensAt(segment, n))}`);
      found.set(n, { segment: stored, claimed, settled, creditUsed });
    }
    return found;
  }

  async tally(event: string): Promise<{ claimed: number; lapsed: number }> {
    this.#enter();
    const row = this.#row(event);
    return { claimed: row.claims.size, lapsed: row.record.progress.lapsed };
  }

  async loadKeys(): Promise<StoredKeys> {
    this.#enter();
    return this.#keys;
  }

  async changeKeys(lead: Lead, { seq, nextSeq, rows, audit }: KeysChange): Promise<void> {
    this.#fence(lead);
    if (this.#keys.seq !== seq) throw new KeysMovedError("the keys were changed");
    const byKid = new Map<string, KeyRow>(this.#keys.keys.map((key) => [key.kid, key]));
    for (const row of rows) byKid.set(row.kid, row);
    const keys = [...byKid.values()];
    const signing = keys.filter(({ state }) => state === "signing").map(({ use }) => use);
    // As the unique index does.
    assert(new Set(signing).size === signing.length, "one key of a use signs");
    this.#keys = { seq: nextSeq, keys };
    this.keysAudit.push(...audit);
  }

  #apply(
    row: Row,
    {
      lead,
      change,
      segments,
    }: { lead: Lead; change: EventChange; segments: readonly StoredSegment[] },
  ): void {
    const settled = new Set(change.settled?.map(({ id }) => id));
    const cuts = new Map(change.cutSegments?.map(({ id, cutAfter }) => [id, cutAfter]));
    row.segments.push(...segments.map((segment) => ({ ...segment, settled: false })));
    // A long sale has many: only those that change are looked at.
    for (const [index, segment] of row.segments.entries()) {
      const cutAfter = cuts.get(segment.id);
      if (settled.has(segment.id)) segment.settled = true;
      if (cutAfter !== undefined) row.segments[index] = { ...segment, cutAfter };
    }
    for (const [n, id] of cuts.size === 0 ? [] : row.claims) {
      const piece = row.segments.find((segment) => segment.id === id);
      if (piece !== undefined && cuts.has(id) && opensAt(piece, n) > (piece.cutAfter ?? Infinity))
        row.claims.delete(n);
    }
    const own = row.record.blocks.find(({ epoch }) => epoch === lead.epoch);
    // As in PostgreSQL: nothing is noted on a block that was never reserved.
    const { issuedThrough: _unreserved, ...rest } = change;
    row.record = applied(
      row.record,
      { change: own === undefined ? rest : change, segments },
      own ?? { epoch: lead.epoch, first: 1 },
    );
  }

  #claimsOf(row: Row, segment: number): number {
    const { base, count } = row.segments.findLast(({ id }) => id === segment) ?? {
      base: 1,
      count: 0,
    };
    let claimed = 0;
    for (let n: number = base; n < base + count; n += 1)
      if (row.claims.get(n) === segment) claimed += 1;
    return claimed;
  }

  #holds({ holder, epoch }: Lead): boolean {
    return !this.#lease.released && this.#lease.epoch === epoch && this.#lease.holder === holder;
  }

  #fence(lead: Lead): void {
    this.#enter();
    if (!this.#holds(lead)) throw new LeaseLostError("another leader");
  }

  #enter(): void {
    this.calls += 1;
    if (this.trouble !== undefined) throw this.trouble;
  }

  #row(event: string): Row {
    const row = this.#rows.get(event);
    assert(row !== undefined, "the event exists");
    return row;
  }
}

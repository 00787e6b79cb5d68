/**
 * What the mint keeps. Two adapters pass one conformance suite: PostgreSQL, and memory for tests.
 *
 * Every method that takes a `Lead` grants something, and does nothing at all when that lead is over:
 * it throws LeaseLostError. Any of them may throw AppError `unavailable`; whether the write happened
 * is then unknown, and the caller reads the event again before it plans anything new.
 */
import type { ArchivedFigures } from "@vestibule/contracts/archive-api";
import type { EventSettings } from "@vestibule/contracts/event-settings";
import type { LineState, Segment } from "@vestibule/drip/line-state";
import type { EpochMs } from "@vestibule/kernel/units";
import type { KeyUse, PublicJwk } from "@vestibule/keys/public-key";
import type { KeyRecord } from "@vestibule/keys/rotation";

/** One leadership. Holder and epoch fence: a failover that forgot an epoch cannot make two leaders alike. */
export interface Lead {
  readonly holder: string;
  readonly epoch: number;
  /** Of the database in which it was won, `server/timeline`; `undefined`: the server does not say. */
  readonly history: string | undefined;
}

export interface LeaseRequest {
  readonly holder: string;
  readonly ttlMs: number;
  /** What every event skips after an unclean end; many times this when the database has forgotten. */
  readonly gapNumbers: number;
  /** What this process has seen and given: a row that is behind it has forgotten. Absent: nothing. */
  readonly known?: { readonly seen: LeaseSeen; readonly ends: readonly BlockEnd[] };
}

/** A lease at a moment: within one epoch `until`, epoch milliseconds of the server's clock, only grows. */
export interface LeaseSeen {
  readonly epoch: number;
  readonly until: number;
}

/** Won, or held by somebody else, as `seen`. */
export type LeaseAnswer =
  | { readonly lead: Lead; readonly seen?: undefined; readonly forgotten: Forgotten | undefined }
  | { readonly lead?: undefined; readonly seen: LeaseSeen };

/** Commits may be lost: what was found, and what is skipped. */
export interface Forgotten {
  /** The history that the row tells of. */
  readonly from: string | undefined;
  /** The row's, and the highest that this process has seen. */
  readonly epochs: readonly [number, number];
  /** Since the last renewal on record. */
  readonly seconds: number;
  /** Numbers, in every event. */
  readonly skip: number;
}

/** `moved`: the lease is there, but in another history: whoever came later may be forgotten. It was not renewed. */
export type Renewal = "held" | "lost" | "moved";

/** Somebody else leads. Nothing was written. */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
}

/** The stored line is not the one that this was planned on. Nothing was written: read it again. */
export class LineMovedError extends Error {
  override readonly name = "LineMovedError";
}

/** A committed segment with the name it has in the store. */
export interface StoredSegment extends Segment {
  readonly id: number;
}

/** Numbers reserved by one leader, given through `issuedThrough` (`first - 1`: none) as far as is known. */
export interface NumberBlock {
  readonly epoch: number;
  readonly first: number;
  readonly last: number;
  readonly issuedThrough: number;
}

/** A run of numbers that wait for a slot on demand; lower positions come first. */
export interface Demand {
  readonly position: number;
  readonly first: number;
  readonly last: number;
}

export interface HoldFacts {
  readonly since: EpochMs;
  readonly scope: "entries" | "all";
  readonly reason: string;
}

/** An ended hold. */
export interface Cut {
  readonly since: EpochMs;
  readonly until: EpochMs;
}

/** What an organizer decided, and when; and what the purchase API reports. */
export interface EventFacts {
  readonly hold: HoldFacts | undefined;
  readonly soldoutAt: EpochMs | undefined;
  readonly endedAt: EpochMs | undefined;
  readonly supply: SupplyFacts;
}

/** Unlike an organizer's word this one may be taken back. */
export interface SupplyFacts {
  /** Since when nothing is left. */
  readonly outAt: EpochMs | undefined;
  /** Of the last report that was heard; 0: none was. */
  readonly seq: number;
  readonly lastCall: LastCallFacts;
  readonly left: LeftFacts;
}

/** By reports that say something of it: an older purchase API's do not. */
export interface LastCallFacts {
  /** Since when what is left may not last, or when it last came back after all was gone. */
  readonly at: EpochMs | undefined;
  readonly seq: number;
}

/** By reports that say something of it. Told to those who wait, and used for nothing else. */
export interface LeftFacts {
  /** Pieces that can still be sold, held ones among them. */
  readonly atMost: number | undefined;
  readonly seq: number;
}

/** The part of an event that only steps of the drip change. */
export interface Progress {
  readonly line: LineState;
  /** The serving number never falls below this. */
  readonly serving: number;
  readonly lapsed: number;
}

export interface EventRecord {
  readonly settings: EventSettings;
  readonly version: number;
  readonly createdAt: EpochMs;
  readonly facts: EventFacts;
  readonly progress: Progress;
  readonly lineVersion: number;
  readonly reserved: number;
  /** Ascending. */
  readonly blocks: readonly NumberBlock[];
  /** Those that are not settled, in the order of their commits. */
  readonly segments: readonly StoredSegment[];
  /** Ascending by position. */
  readonly demand: readonly Demand[];
  readonly cuts: readonly Cut[];
}

export interface AuditEntry {
  readonly actor: string;
  readonly action: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** A slot is made good: its number is put on demand, in the same step. */
export interface CreditUse {
  readonly n: number;
  /** Epoch seconds: `nbf` of the admission that could not be used. */
  readonly slot: number;
  readonly at: EpochMs;
}

/** One step of one event. All of it is written, or nothing. */
export interface EventChange {
  readonly progress?: Progress;
  /** Final counts of segments whose claim windows are over. */
  readonly settled?: readonly {
    readonly id: number;
    readonly claimed: number;
    readonly lapsed: number;
  }[];
  readonly segments?: readonly Segment[];
  readonly cutSegments?: readonly { readonly id: number; readonly cutAfter: EpochMs }[];
  readonly cut?: Cut;
  readonly demandDone?: readonly number[];
  readonly demandSet?: readonly Demand[];
  /** Written for the block of this lead. */
  readonly issuedThrough?: number;
  readonly settings?: EventSettings;
  readonly facts?: EventFacts;
  /** Present: an organizer's deed; the version grows by one. */
  readonly audit?: AuditEntry;
  /** For the audit log, and nobody's deed: the version stays, so that it is in no organizer's way. */
  readonly note?: AuditEntry;
  /** Each at most once, ever. */
  readonly creditsUsed?: readonly CreditUse[];
}

export interface StepRequest {
  readonly event: string;
  /** The state that this step was planned on. */
  readonly lineVersion: number;
  /** Segments to settle: no claim of them is recorded from here on. */
  readonly settle: readonly number[];
  /** Called once, with the claims recorded for each of `settle`. Pure. */
  readonly decide: (claimed: ReadonlyMap<number, number>) => EventChange;
  /**
   * Asked right before the commit. False: too much time has passed since `decide`, in a slow store or a process that was
   * stopped; then nothing is written, and it throws AppError `unavailable`.
   */
  readonly isFresh?: () => boolean;
}

export interface StepDone {
  readonly change: EventChange;
  /** The new segments, in their order, with ids. */
  readonly segments: readonly StoredSegment[];
}

export interface ClaimOf {
  readonly n: number;
  readonly segment: number;
}

export interface ClaimsRequest {
  readonly event: string;
  readonly at: EpochMs;
  /** Recorded unless the segment is settled; a claim of an earlier, settled slot of the number moves here. */
  readonly fresh: readonly ClaimOf[];
  /** Only looked up: their claim window is over. */
  readonly again: readonly ClaimOf[];
}

/** A number's latest slot, whether open or long over. */
export interface PlaceFound {
  readonly segment: StoredSegment;
  /** This very slot was claimed. */
  readonly claimed: boolean;
  /** The counts of its segment are final. */
  readonly settled: boolean;
  /** It was made good. */
  readonly creditUsed: boolean;
}

/** A batch of places that were given beforehand: `first … first + count - 1`. */
export interface Premint {
  readonly batch: string;
  readonly first: number;
  readonly count: number;
  /** Of the people, in their order. */
  readonly digest: string;
  readonly at: EpochMs;
}

/** An event whose rows go, and what is left of them. */
export interface ArchiveRequest {
  readonly event: string;
  /** The state that `figures` are of. */
  readonly lineVersion: number;
  readonly at: EpochMs;
  readonly figures: ArchivedFigures;
  readonly audit: AuditEntry;
}

export interface Tally {
  readonly claimed: number;
  readonly lapsed: number;
}

/** Somebody else changed the keys, or this is a repetition: nothing was written. Read them again. */
export class KeysMovedError extends Error {
  override readonly name = "KeysMovedError";
}

/** A key of ours: what `keys/rotation` decides by, and what signs and verifies. */
export interface KeyRow extends KeyRecord {
  readonly use: KeyUse;
  readonly publicJwk: PublicJwk;
  /** Compact JWE of the private key; only while it signs or may yet. */
  readonly sealed: string | undefined;
  readonly createdAt: EpochMs;
}

export interface StoredKeys {
  /** Of the key set; only grows. */
  readonly seq: number;
  /** In the order of their making: all that may still verify, and the latest of the others. */
  readonly keys: readonly KeyRow[];
}

/** One change of the key set: all of it is written, or nothing. */
export interface KeysChange {
  /** The set that this was planned on. */
  readonly seq: number;
  /** Greater. */
  readonly nextSeq: number;
  /** New ones, and known ones as they are from now on. */
  readonly rows: readonly KeyRow[];
  readonly audit: readonly AuditEntry[];
}

/** The last numbers of a leader that ends cleanly. */
export interface BlockEnd {
  readonly event: string;
  readonly issuedThrough: number;
}

export interface MintStore {
  isUp(): Promise<boolean>;

  /**
   * Takes the lease when it is released or expired, or of an epoch behind what is known. What `planTakeover` says is skipped, in the same
   * transaction.
   */
  acquireLease(request: LeaseRequest): Promise<LeaseAnswer>;
  renewLease(lead: Lead, ttlMs: number): Promise<Renewal>;
  /** Gives back unused numbers and the lease, together. */
  releaseLease(lead: Lead, ends: readonly BlockEnd[]): Promise<void>;

  loadEvents(): Promise<readonly EventRecord[]>;
  loadEvent(event: string): Promise<EventRecord | undefined>;
  /** False: an event of this name exists. */
  createEvent(
    lead: Lead,
    request: { settings: EventSettings; at: EpochMs; audit: AuditEntry },
  ): Promise<boolean>;

  /** Reserves `first … through` for this lead; asked again it does nothing new. */
  reserveNumbers(
    lead: Lead,
    request: { event: string; first: number; through: number },
  ): Promise<void>;

  /**
   * Notes a batch of numbers of this lead's block, and that they are given; all of it, or nothing.
   *
   * @returns what is on record for the batch: this, or what an earlier try or another leader had noted.
   */
  recordPremint(
    lead: Lead,
    request: { event: string; premint: Premint; audit: AuditEntry },
  ): Promise<Premint>;
  findPremint(event: string, batch: string): Promise<Premint | undefined>;

  /** For good: it is loaded no more, and its name is not free again. @throws LineMovedError */
  archiveEvent(lead: Lead, request: ArchiveRequest): Promise<void>;
  findArchived(
    event: string,
  ): Promise<{ readonly at: EpochMs; readonly figures: ArchivedFigures } | undefined>;
  /** Deletes at most so many rows of an archived event, of any other none. @returns how many. */
  clearArchived(event: string, rowsMax: number): Promise<number>;

  /** @throws LineMovedError */
  step(lead: Lead, request: StepRequest): Promise<StepDone>;

  /** @returns the numbers whose claim is on record for the segment named with them. */
  recordClaims(lead: Lead, request: ClaimsRequest): Promise<ReadonlySet<number>>;
  findPlaces(event: string, numbers: readonly number[]): Promise<ReadonlyMap<number, PlaceFound>>;
  tally(event: string): Promise<Tally>;

  loadKeys(): Promise<StoredKeys>;
  /** @throws KeysMovedError */
  changeKeys(lead: Lead, change: KeysChange): Promise<void>;
}

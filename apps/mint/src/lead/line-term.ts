/** One term as leader: the lines of all events, their claim desks, their ticks and their statements. */
import type { EventSettings } from "@vestibule/contracts/event-settings";
import { AppError } from "@vestibule/kernel/app-error";
import { assert } from "@vestibule/kernel/assert";
import type { Clock } from "@vestibule/kernel/clock";
import type { EpochMs } from "@vestibule/kernel/units";
import type { Log } from "@vestibule/service/log";
import {
  NEWCOMER_TICK_MS,
  SEGMENTS_QUICK_MAX,
  STATEMENT_FRESH_MS,
  TICKS_AT_ONCE_MAX,
  TICK_EVERY_MS,
} from "../limits.ts";
import { ClaimDesk } from "../line/claim-desk.ts";
import { tick } from "../line/controller.ts";
import { EventLine } from "../line/event-line.ts";
import { stateAt } from "../line/event-state.ts";
import { ManifestRoom } from "../line/manifest-room.ts";
import { PremintDesk } from "../line/premint-desk.ts";
import { dripClaims, manifestClaims } from "../line/statement.ts";
import type { DripClaims, ManifestClaims } from "@vestibule/contracts/statements";
import type { AuditEntry, BlockEnd, EventRecord, Lead, MintStore } from "../store/store.ts";
import type { Timers } from "../timers.ts";
import { unavailable } from "../unavailable.ts";
import { CachedText } from "./cached-text.ts";
import type { Term } from "./leadership.ts";

/** Statements of one term: `epoch × this + 1, 2, 3 …`. Grows over restarts without a write of its own. */
const SEQS_PER_EPOCH = 2 ** 32;
/** Epochs that fit: one a day for 5,000 years, or 2,000 times a database that forgot. Beyond it nobody leads. */
const EPOCHS_MAX = 2 ** 21;

/** Signs what is published. */
export interface StatementSigner {
  /** Of the key set that statements name, and by whose keys they are signed. */
  keysSeq(): number;
  drip(claims: DripClaims): Promise<string>;
  manifest(claims: ManifestClaims): Promise<string>;
}

export interface LineTermOptions {
  readonly lead: Lead;
  readonly store: MintStore;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly issuer: string;
  readonly signer: StatementSigner;
  readonly log: Log;
  readonly onLost: () => void;
  /** False: another mint may lead by now, without this one having heard of it. */
  readonly isConfirmed: () => boolean;
}

export interface LineEntry {
  readonly line: EventLine;
  readonly desk: ClaimDesk;
  readonly premints: PremintDesk;
  readonly statement: CachedText;
  /** Since when ticks fail for another reason than the store's; written by ticks alone. */
  failingSince: EpochMs | undefined;
}

export class LineTerm implements Term {
  readonly lead: Lead;
  /** In the manifest, for settings that make it longer. */
  readonly room: ManifestRoom;
  readonly #options: LineTermOptions;
  readonly #entries = new Map<string, LineEntry>();
  readonly #manifest: CachedText;
  readonly #ticking = new Set<string>();
  readonly #soon = new Map<string, () => void>();
  #manifestEdition = 0;
  #seq = 0;
  #cancelTick: () => void = () => {};
  #over = false;

  private constructor(options: LineTermOptions) {
    this.lead = options.lead;
    this.#options = options;
    assert(options.lead.epoch < EPOCHS_MAX, "statement numbers stay exact");
    this.room = new ManifestRoom(() => this.events.map(({ line }) => line.record), options);
    this.#manifest = new CachedText({ freshMs: STATEMENT_FRESH_MS * 5 });
  }

  /** Reads every event and starts the ticks. */
  static async begin(options: LineTermOptions): Promise<LineTerm> {
    const term = new LineTerm(options);
    for (const record of await options.store.loadEvents()) term.#add(record);
    term.#scheduleTicks();
    return term;
  }

  get events(): readonly LineEntry[] {
    return [...this.#entries.values()];
  }

  entry(event: string): LineEntry | undefined {
    return this.#entries.get(event);
  }

  /** False: an event of this name exists. */
  async create(settings: EventSettings, at: EpochMs, audit: AuditEntry): Promise<boolean> {
    const { store } = this.#options;
    const created = await store.createEvent(this.lead, { settings, at, audit });
    const record = await store.loadEvent(settings.event);
    // Stored by an earlier try whose answer was lost: it is served from now on all the same.
    if (record !== undefined && !this.#entries.has(settings.event)) this.#add(record);
    this.#manifestEdition += 1;
    return created;
  }

  /** An event that is archived: nothing is left to do for it. */
  forget(event: string): void {
    this.#entries.get(event)?.line.sequencer.stop();
    this.#entries.delete(event);
    this.#soon.get(event)?.();
    this.#soon.delete(event);
  }

  /** Something that the manifest says has changed. */
  changed(): void {
    this.#manifestEdition += 1;
  }

  /** Not in a second, but now, for a newcomer to a quiet line; while many turns are open for claims, in a second. */
  newcomer(entry: LineEntry): void {
    if (entry.line.record.segments.length < SEGMENTS_QUICK_MAX)
      this.tickSoon(entry, NEWCOMER_TICK_MS);
  }

  tickSoon(entry: LineEntry, ms: number): void {
    const { event } = entry.line;
    if (this.#over || this.#soon.has(event)) return;
    const cancel = this.#options.timers.after(ms, () => {
      this.#soon.delete(event);
      void this.#tickOne(entry);
    });
    this.#soon.set(event, cancel);
  }

  /**
   * The signed drip statement: signed when something changed, or about once a second when asked.
   *
   * @throws AppError `unavailable` while another mint may lead: a statement of this one, fresh or kept,
   * would keep locations from asking that one, and hide a hold. They go on with what they know.
   */
  async drip(entry: LineEntry): Promise<string> {
    this.#assertConfirmed();
    const { clock, issuer, signer } = this.#options;
    const now = clock.now();
    const { line, statement } = entry;
    return statement.get({
      now,
      edition: `${line.edition} ${stateAt(line.record, now)} ${signer.keysSeq()}`,
      make: () => signer.drip(dripClaims(line, { issuer, now, seq: this.#nextSeq() })),
    });
  }

  /** @throws AppError as `drip`. */
  async manifest(): Promise<string> {
    this.#assertConfirmed();
    const { clock, issuer, signer } = this.#options;
    const now = clock.now();
    const records = (): EventRecord[] => this.events.map(({ line }) => line.record);
    return this.#manifest.get({
      now,
      edition: `${this.#manifestEdition} ${signer.keysSeq()}`,
      make: () => signer.manifest(manifestClaims(records(), { issuer, now, seq: this.#nextSeq() })),
    });
  }

  async close(): Promise<readonly BlockEnd[]> {
    this.#halt();
    await Promise.all(this.events.map(({ line }) => line.close()));
    return this.#ends();
  }

  abandon(): readonly BlockEnd[] {
    this.#halt();
    for (const { line } of this.events) line.sequencer.stop();
    return this.#ends();
  }

  /** Ticks every event once; for tests, which have no timers. */
  async tickAll(): Promise<void> {
    const entries = this.events;
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let entry = entries[next++]; entry !== undefined; entry = entries[next++]) {
        if (this.#over) return;
        await this.#tickOne(entry);
      }
    };
    await Promise.all(Array.from({ length: TICKS_AT_ONCE_MAX }, worker));
  }

  #add(record: EventRecord): void {
    const { lead, store, clock, onLost } = this.#options;
    const line = new EventLine(record, { lead, store, clock, onLeaseLost: onLost });
    this.#entries.set(line.event, {
      line,
      desk: new ClaimDesk({ line, clock }),
      premints: new PremintDesk(line),
      statement: new CachedText({ freshMs: STATEMENT_FRESH_MS }),
      failingSince: undefined,
    });
  }

  async #tickOne(entry: LineEntry): Promise<void> {
    const { line } = entry;
    if (this.#ticking.has(line.event) || this.#over) return;
    this.#ticking.add(line.event);
    try {
      await tick(line);
      entry.failingSince = undefined;
    } catch (error) {
      this.#tickFailed(entry, error);
    } finally {
      this.#ticking.delete(line.event);
    }
  }

  #tickFailed(entry: LineEntry, error: unknown): void {
    const { log, clock } = this.#options;
    const { event } = entry.line;
    if (error instanceof AppError && error.code === "event-not-found") {
      this.forget(event);
      return;
    }
    if (error instanceof AppError) {
      log.warn("tick-failed", { event, reason: error.message });
      return;
    }
    // A fault of ours, which no waiting mends: once in the log, and in the organizer's view while it lasts.
    if (entry.failingSince !== undefined) return;
    entry.failingSince = clock.now();
    log.error("tick-failed", error, { event });
  }

  #scheduleTicks(): void {
    if (this.#over) return;
    this.#cancelTick = this.#options.timers.after(TICK_EVERY_MS, () => {
      void this.tickAll().finally(() => this.#scheduleTicks());
    });
  }

  #ends(): readonly BlockEnd[] {
    return this.events.map(({ line }) => ({
      event: line.event,
      issuedThrough: line.sequencer.issuedThrough,
    }));
  }

  #halt(): void {
    this.#over = true;
    this.#cancelTick();
    for (const cancel of this.#soon.values()) cancel();
    this.#soon.clear();
  }

  #assertConfirmed(): void {
    if (this.#options.isConfirmed()) return;
    throw unavailable("the lease may have run out: renewals fail");
  }

  #nextSeq(): number {
    this.#seq += 1;
    assert(this.#seq < SEQS_PER_EPOCH, "a term has fewer statements than that");
    return this.lead.epoch * SEQS_PER_EPOCH + this.#seq;
  }
}

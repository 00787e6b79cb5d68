/**
 * Who leads: the loop around the lease. It takes the lease when it is free, renews it every second,
 * and steps down when it hears that somebody else has it. Until then it goes on, however late its
 * renewals are: every grant is fenced where it is stored. But what is only said, a statement, has no
 * such fence; once the lease may have run out nothing is said any more (`isConfirmed`).
 *
 * It remembers what it has seen and given, so that a database that has forgotten it is not led from there (ADR 16).
 */
import type { Log } from "@vestibule/service/log";
import {
  LEASE_RENEW_EVERY_MS,
  LEASE_TRY_EVERY_MS,
  LEASE_TTL_MS,
  SAFETY_GAP_NUMBERS,
} from "../limits.ts";
import {
  type BlockEnd,
  type Forgotten,
  type Lead,
  type LeaseSeen,
  LeaseLostError,
  type MintStore,
} from "../store/store.ts";
import { isBehind } from "../store/takeover.ts";
import type { Timers } from "../timers.ts";

/** What a leadership is used for: made when it begins, told when it is over. */
export interface Term {
  readonly lead: Lead;
  /** Takes no more work and waits for what runs; what is left of its numbers goes back. */
  close(): Promise<readonly BlockEnd[]>;
  /** Another mint leads: nothing more can be stored. What was given is known here all the same. */
  abandon(): readonly BlockEnd[];
}

export interface LeadershipOptions<SomeTerm extends Term> {
  readonly store: MintStore;
  readonly timers: Timers;
  /** Random and never used before: names this process. */
  readonly holder: string;
  readonly log: Log;
  /** Reads what is stored and begins to serve. May fail while PostgreSQL is away; then it is tried again. */
  readonly begin: (lead: Lead, onLost: () => void) => Promise<SomeTerm>;
}

export class Leadership<SomeTerm extends Term> {
  readonly #options: LeadershipOptions<SomeTerm>;
  #lead: Lead | undefined;
  #term: SomeTerm | undefined;
  #running: Promise<void> | undefined;
  #stopping = Promise.withResolvers<void>();
  #stopped = false;
  /** When the last good renewal was asked for: by then, or later, the lease was extended. */
  #confirmedAt = -Infinity;
  #trouble: string | undefined;
  /** The latest of the lease, whoever had it. */
  #seen: LeaseSeen = { epoch: 0, until: 0 };
  /** Numbers that this process has given, by event, whichever term it was in. */
  readonly #given = new Map<string, number>();

  constructor(options: LeadershipOptions<SomeTerm>) {
    this.#options = options;
  }

  /** The present term, or `undefined` in a standby. */
  get term(): SomeTerm | undefined {
    return this.#term;
  }

  /** Is there surely no other leader? Not when the last good renewal is older than the lease lasts. */
  get isConfirmed(): boolean {
    const { timers } = this.#options;
    return this.#term !== undefined && timers.monotonicMs() - this.#confirmedAt < LEASE_TTL_MS;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Ends the term cleanly, when PostgreSQL can be reached: then no number is lost. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#stopping.resolve();
    await this.#running;
    const [term, lead] = [this.#term, this.#lead];
    this.#term = undefined;
    this.#lead = undefined;
    if (lead === undefined) return;
    const ends = (await term?.close()) ?? [];
    await this.#options.store.releaseLease(lead, ends);
    this.#options.log.info("lease-released", { epoch: lead.epoch });
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      try {
        await (this.#lead === undefined ? this.#tryAcquire() : this.#keep(this.#lead));
        this.#trouble = undefined;
      } catch (error) {
        this.#report(error);
      }
      if (this.#stopped) return;
      await this.#pause(this.#term === undefined ? LEASE_TRY_EVERY_MS : LEASE_RENEW_EVERY_MS);
    }
  }

  async #tryAcquire(): Promise<void> {
    const { store, timers, holder } = this.#options;
    const askedAt = timers.monotonicMs();
    const ends = [...this.#given].map(([event, issuedThrough]) => ({ event, issuedThrough }));
    const answer = await store.acquireLease({
      holder,
      ttlMs: LEASE_TTL_MS,
      gapNumbers: SAFETY_GAP_NUMBERS,
      known: { seen: this.#seen, ends },
    });
    const seen = answer.seen ?? { epoch: answer.lead.epoch, until: 0 };
    if (isBehind(this.#seen, seen)) this.#seen = seen;
    if (answer.lead === undefined) return;
    const { lead } = answer;
    this.#lead = lead;
    this.#confirmedAt = askedAt;
    this.#tell(lead, answer.forgotten);
    await this.#begin(lead);
  }

  #tell({ epoch, history }: Lead, forgotten: Forgotten | undefined): void {
    const { log } = this.#options;
    log.info("lease-acquired", { epoch });
    if (history === undefined) log.warn("database-history-unknown", { epoch });
    if (forgotten === undefined) return;
    const { from, epochs, seconds, skip } = forgotten;
    const [rowEpoch, epochSeen] = epochs;
    log.warn("database-forgot", { epoch, from, to: history, rowEpoch, epochSeen, seconds, skip });
  }

  async #keep(lead: Lead): Promise<void> {
    const { store, timers } = this.#options;
    const askedAt = timers.monotonicMs();
    const renewal = await store.renewLease(lead, LEASE_TTL_MS);
    if (renewal === "lost") this.#stepDown(lead);
    if (renewal === "moved") await this.#startOver(lead);
    if (renewal !== "held") return;
    this.#confirmedAt = askedAt;
    if (this.#term === undefined) await this.#begin(lead);
  }

  /**
   * The database is another one, which may have forgotten a leader that came after this one: what this one knows is stored,
   * and it takes the lease anew, which skips whatever that one may have used.
   */
  async #startOver(lead: Lead): Promise<void> {
    const { store, log } = this.#options;
    log.warn("database-moved", { epoch: lead.epoch });
    const term = this.#term;
    this.#term = undefined;
    const ends = (await term?.close()) ?? [];
    this.#remember(ends);
    if (this.#lead !== lead) return;
    this.#lead = undefined;
    try {
      await store.releaseLease(lead, ends);
    } catch (error) {
      if (!(error instanceof LeaseLostError)) throw error;
    }
    await this.#tryAcquire();
  }

  async #begin(lead: Lead): Promise<void> {
    try {
      const term = await this.#options.begin(lead, () => this.#stepDown(lead));
      if (this.#lead === lead) this.#term = term;
      else this.#remember(term.abandon());
    } catch (error) {
      if (!(error instanceof LeaseLostError)) throw error;
      this.#stepDown(lead);
    }
  }

  #stepDown(lead: Lead): void {
    if (this.#lead !== lead) return;
    this.#lead = undefined;
    this.#remember(this.#term?.abandon() ?? []);
    this.#term = undefined;
    this.#options.log.warn("lease-lost", { epoch: lead.epoch });
  }

  #remember(ends: readonly BlockEnd[]): void {
    for (const { event, issuedThrough } of ends) {
      this.#given.set(event, Math.max(this.#given.get(event) ?? 0, issuedThrough));
    }
  }

  /** Once per kind of trouble, not once a second. */
  #report(error: unknown): void {
    const trouble = error instanceof Error ? error.message : String(error);
    if (trouble === this.#trouble) return;
    this.#trouble = trouble;
    this.#options.log.error("lease-trouble", error);
  }

  async #pause(ms: number): Promise<void> {
    const woken = Promise.withResolvers<void>();
    const cancel = this.#options.timers.after(ms, woken.resolve);
    await Promise.race([woken.promise, this.#stopping.promise]);
    cancel();
  }
}

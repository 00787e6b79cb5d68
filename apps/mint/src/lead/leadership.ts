/**
 * Who leads: the loop around the lease. It takes the lease when it is free, renews it every second,
 * and steps down when it hears that somebody else has it. Until then it goes on, however late its
 * renewals are: every grant is fenced where it is stored. But what is only said, a statement, has no
 * such fence; once the lease may have run out nothing is said any more (`isConfirmed`).
 */
import type { Log } from "@vestibule/service/log";
import {
  LEASE_RENEW_EVERY_MS,
  LEASE_TRY_EVERY_MS,
  LEASE_TTL_MS,
  SAFETY_GAP_NUMBERS,
} from "../limits.ts";
import { type BlockEnd, type Lead, LeaseLostError, type MintStore } from "../store/store.ts";
import type { Timers } from "../timers.ts";

/** What a leadership is used for: made when it begins, told when it is over. */
export interface Term {
  readonly lead: Lead;
  /** Takes no more work and waits for what runs; what is left of its numbers goes back. */
  close(): Promise<readonly BlockEnd[]>;
  /** Another mint leads: nothing more can be stored. */
  abandon(): void;
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
    const { store, timers, holder, log } = this.#options;
    const askedAt = timers.monotonicMs();
    const lead = await store.acquireLease({
      holder,
      ttlMs: LEASE_TTL_MS,
      gapNumbers: SAFETY_GAP_NUMBERS,
    });
    if (lead === undefined) return;
    this.#lead = lead;
    this.#confirmedAt = askedAt;
    log.info("lease-acquired", { epoch: lead.epoch });
    await this.#begin(lead);
  }

  async #keep(lead: Lead): Promise<void> {
    const { store, timers } = this.#options;
    const askedAt = timers.monotonicMs();
    if (!(await store.renewLease(lead, LEASE_TTL_MS))) {
      this.#stepDown(lead);
      return;
    }
    this.#confirmedAt = askedAt;
    if (this.#term === undefined) await this.#begin(lead);
  }

  async #begin(lead: Lead): Promise<void> {
    try {
      const term = await this.#options.begin(lead, () => this.#stepDown(lead));
      if (this.#lead === lead) this.#term = term;
      else term.abandon();
    } catch (error) {
      if (!(error instanceof LeaseLostError)) throw error;
      this.#stepDown(lead);
    }
  }

  #stepDown(lead: Lead): void {
    if (this.#lead !== lead) return;
    this.#lead = undefined;
    this.#term?.abandon();
    this.#term = undefined;
    this.#options.log.warn("lease-lost", { epoch: lead.epoch });
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

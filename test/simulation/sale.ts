/** One simulated sale, from its opening until everybody who waits was admitted or told why not. */
import type { ManifestEvent } from "@vestibule/contracts/statements";
import { liveCount, opensAt } from "@vestibule/drip/segment";
import { AppError } from "@vestibule/kernel/app-error";
import { epochMs } from "@vestibule/kernel/units";
import type { EventLine } from "@vestibule/mint/src/line/event-line.ts";
import { changeSettings, hold, resume } from "@vestibule/mint/src/line/organizer.ts";
import { hearSupply } from "@vestibule/mint/src/line/supply.ts";
import type { LeaseRequest } from "@vestibule/mint/src/store/store.ts";
import type { Tokens } from "@vestibule/mint/src/tokens.ts";
import { settings } from "@vestibule/mint/test/support/settings.ts";
import { silentLog, type Log } from "@vestibule/service/log";
import { SeededRandomness } from "@vestibule/testkit/seeded-randomness";
import { Fan } from "./actors/fan.ts";
import { Location, type LocationParts } from "./actors/location.ts";
import { SKEW_SECONDS } from "./actors/mint-process.ts";
import { Shop } from "./actors/shop.ts";
import { Admissions } from "./laws/admission-law.ts";
import { Laws } from "./laws/laws.ts";
import { Trace } from "./laws/trace.ts";
import { applyFault } from "./faults.ts";
import type { Deed as Planned, Plan } from "./plan.ts";
import type { Sabotage } from "./sabotage.ts";
import { DatabaseServer } from "./world/database.ts";
import { Machine, WallClock } from "./world/machine.ts";
import { MintSlot } from "./world/mint-address.ts";
import { Network } from "./world/network.ts";
import { type SimulatedKeys, useSignatures } from "./world/signatures.ts";
import { simulatedStore } from "./world/simulated-store.ts";
import { START_MS, VirtualTime } from "./world/virtual-time.ts";

const EVENT = "spring";
const DAY_MS = 86_400_000;
const SIGNING_MS_MAX = 3;
/** After the calm: back-offs of pages, a hold that is resumed, and whatever waits at the rate. */
const CALM_MS_MAX = 900_000;
const EVENTS_MAX = 400_000;
/** A fan who sits there presses by then: sooner than any claim window ends. */
const PROMPT_MS = 3_000;

export interface SaleResult {
  readonly seed: number;
  readonly broken: string | undefined;
  readonly digest: string;
  readonly events: number;
  readonly virtualMs: number;
  readonly tail: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
}

export class Sale {
  readonly plan: Plan;
  readonly time = new VirtualTime();
  readonly random: SeededRandomness;
  readonly network: Network;
  readonly database: DatabaseServer;
  readonly trace: Trace;
  readonly laws: Laws;
  readonly mints: readonly MintSlot[];
  readonly locations: readonly Location[];
  readonly fans: Fan[] = [];
  readonly admissions: Admissions;
  readonly shop: Shop;
  readonly #sabotage: Sabotage;
  readonly #about: ManifestEvent;
  #isCalm = false;
  #supply = { isOut: false, seq: 0, heard: 0 };

  constructor(plan: Plan, keys: SimulatedKeys, sabotage: Sabotage = {}) {
    this.plan = plan;
    this.#sabotage = sabotage;
    this.random = new SeededRandomness(plan.seed ^ 0x5a1e);
    this.network = new Network(this.time, this.random);
    this.database = new DatabaseServer(this.time, this.random, {
      tellsHistory: sabotage.hidesHistory !== true,
    });
    this.trace = new Trace(() => this.time.now - START_MS);
    this.laws = new Laws({
      ...{ event: EVENT, rows: this.database.rows, trace: this.trace },
      asksPresence: plan.presence === "confirm",
    });
    this.database.onCommit = (what) => this.trace.note(`commit ${what}`, what === "renew");
    this.mints = Array.from({ length: plan.mints }, (_, index) =>
      this.#mint(`mint-${index}`, keys),
    );
    this.locations = Array.from(
      { length: plan.locations },
      (_, index) => new Location(this.#locationParts(`location-${index}`, plan.isolates)),
    );
    this.#about = aboutOf(plan);
    this.shop = new Shop(this.#locationParts("shop", 1), {
      stock: plan.stock,
      lifetimeSeconds: plan.lifetimeSeconds,
      forgetsSpends: sabotage.forgetsSpends === true,
      onSale: (sale) => this.admissions.sold(sale),
      onSupply: (isOut) => {
        this.#supply = { ...this.#supply, isOut, seq: this.#supply.seq + 1 };
        this.trace.note(`supply ${isOut ? "out" : "back"}`);
        this.#reportSupply();
      },
    });
    const { time, laws, trace, locations, random } = this;
    this.admissions = new Admissions({
      time,
      laws,
      trace,
      locations,
      random,
      about: this.#about,
      stock: plan.stock,
    });
  }

  async run(): Promise<SaleResult> {
    useSignatures(this.plan.hasRealSignatures ? "real" : "fast");
    this.#schedule();
    const calmAt = START_MS + this.plan.calmAt;
    while (this.laws.broken === undefined) {
      const isOver = this.#isCalm && this.time.now >= this.#lastsUntil();
      if (isOver || !(await this.time.step())) break;
      this.#check();
      if (this.time.now > calmAt + CALM_MS_MAX || this.time.steps > EVENTS_MAX) {
        const waiting = this.fans.filter(({ ending }) => ending === undefined).map(String);
        this.laws.break(`nobody told them, nobody let them in: ${waiting.join(", ")}`);
      }
    }
    return {
      seed: this.plan.seed,
      broken: this.laws.broken,
      digest: this.trace.digest,
      events: this.time.steps,
      virtualMs: this.time.now - START_MS,
      tail: this.trace.tail,
      figures: this.#figures(),
    };
  }

  /** The process that leads as far as the database knows, or any. */
  leader(): MintSlot | undefined {
    const leading = this.mints.filter((slot) => {
      const process = slot.process();
      return process?.machine.isAlive === true && process.isLeading;
    });
    return leading[0];
  }

  /** Everybody knows, and what they hold is over. */
  #lastsUntil(): number {
    const isWaiting = this.fans.some(({ ending }) => ending === undefined);
    return isWaiting ? Infinity : this.admissions.lastAt;
  }

  /** When each slot opens that is not void, in order. */
  openings(): readonly number[] {
    return this.database.rows
      .committed(EVENT)
      .flatMap((segment) =>
        Array.from({ length: liveCount(segment) }, (_, k) => opensAt(segment, segment.base + k)),
      )
      .toSorted((one, other) => one - other);
  }

  #figures(): Record<string, number> {
    const count = (ending: string): number =>
      this.fans.filter((fan) => fan.ending === ending).length;
    return {
      admitted: count("admitted"),
      missed: count("missed"),
      left: count("left"),
      soldOut: count("sold-out"),
      lateSlots: this.laws.lateSlots,
      slots: this.database.rows.committed(EVENT).reduce((sum, { count }) => sum + count, 0),
    };
  }

  #check(): void {
    for (const location of this.locations) {
      for (const [index, isolate] of location.isolates.entries()) {
        this.laws.isolate(isolate, `${location.machine.name}/${index}`);
      }
    }
  }

  #schedule(): void {
    const { plan, time, random } = this;
    this.#createEvent();
    for (const slot of this.mints)
      time.after(random.integer({ min: 0, max: 200 }), () => slot.start());
    for (let index = 0; index < plan.fans; index += 1) this.#addFan(index);
    for (const { at, count } of plan.crowds) time.after(at, () => this.#crowd(count));
    for (const fault of plan.faults) time.after(fault.at, () => applyFault(this, fault));
    for (const deed of plan.deeds) time.after(deed.at, () => this.#perform(deed));
    time.after(plan.calmAt, () => this.#calm());
  }

  /** The event is there when the sale begins, as an organizer's work of another day. */
  #createEvent(): void {
    const { rows } = this.database;
    const { plan } = this;
    const holder = "preparation";
    void (async () => {
      const { lead } = await rows.acquireLease({ holder, ttlMs: 1, gapNumbers: 0 });
      if (lead === undefined) throw new Error("the lease of a new database is free");
      await rows.createEvent(lead, {
        settings: settings({
          ...{
            event: EVENT,
            ratePerMinute: plan.ratePerMinute,
            horizonSeconds: plan.horizonSeconds,
          },
          claimWindowSeconds: plan.claimWindowSeconds,
          lifetimeSeconds: plan.lifetimeSeconds,
          overdrivePercent: plan.overdrivePercent,
          approximationBudget: plan.approximationBudget,
          presence: plan.presence,
          ratePlan: dated(plan.ratePlan),
          ...(plan.startsAt === 0 ? {} : opening(plan)),
          endsAt: START_MS + DAY_MS,
        }),
        at: epochMs(START_MS),
        audit: { actor: "test", action: "create", detail: {} },
      });
      await rows.releaseLease(lead, []);
      this.database.committed("prepared");
    })();
  }

  #addFan(index: number): void {
    const { plan, time, random, network, locations } = this;
    const clock = new WallClock(time, {
      offsetMs: random.integer({ min: -200_000, max: 200_000 }),
    });
    const isFickle = random.chance(25);
    const pressesWithinMs = plan.presence === "auto" ? undefined : pressing(plan, random);
    const fan = new Fan({
      name: `fan-${index}`,
      visitor: secret(random),
      machine: new Machine(`fan-${index}`, time, clock),
      ...{ network, random, locations, about: () => this.#about },
      tabs: random.chance(15) ? 2 : 1,
      leavesAfterMs: isFickle ? random.integer({ min: 100, max: plan.calmAt }) : undefined,
      // Whoever is never there, or late each time, might join for ever (seed 596).
      isPatient:
        random.chance(50) &&
        (plan.presence === "auto" || (pressesWithinMs ?? Infinity) <= PROMPT_MS),
      pressesWithinMs,
      isPressedByPage: this.#sabotage.pagesPress === true,
      watch: {
        numbered: (who, number) => this.trace.note(`${who.name} holds ${number}`),
        served: () => {},
        claimed: (who, admission) => this.admissions.claimed(who, admission),
        presented: (who, admission, verdict) => this.admissions.presented(who, admission, verdict),
        admitted: (who, admission) => this.#buys(who, admission),
        pressed: (who, number) => {
          this.trace.note(`${who.name} says that they are there for ${number}`);
          this.laws.said(number);
        },
      },
    });
    this.fans.push(fan);
    time.after(
      random.integer({ min: 0, max: plan.calmAt - 1_000 }) * (random.chance(60) ? 0.2 : 1),
      () => fan.start(),
    );
  }

  /** Visitors who join, and are never seen again. */
  #crowd(count: number): void {
    const { time, random, locations } = this;
    this.trace.note(`a crowd of ${count}`);
    for (let index = 0; index < count; index += 1) {
      const visitor = secret(random);
      const credentials = { visitor, ticket: undefined, admission: undefined };
      time.after(random.integer({ min: 0, max: 1_500 }), () => {
        const isolate = random.pick(locations).any();
        void isolate.join({ ...credentials, tokenMode: false, byCookie: true });
      });
    }
  }

  #buys(fan: Fan, admission: string): void {
    const { random, network, shop } = this;
    const { machine, visitor } = fan.parts;
    this.trace.note(`${fan.name} is in with ${fan.number}`);
    const tries = random.integer({ min: 1, max: 3 });
    const idempotencyKey = `${fan.name}-${random.integer({ min: 0, max: 1 })}`;
    for (let index = 0; index < tries; index += 1) {
      const key = random.chance(80) ? idempotencyKey : `${idempotencyKey}-other`;
      machine.after(random.integer({ min: 0, max: 5_000 }), () => {
        void network.call({
          ...{ from: machine, to: () => shop.machine, link: "fans>shop", deadlineMs: 15_000 },
          serve: () => shop.buy({ admission, visitor, idempotencyKey: key }),
        });
      });
    }
  }

  #perform({ kind, ratePerMinute, change }: Planned): void {
    const deed = { actor: "test" };
    if (kind === "seat-back") {
      this.shop.giveBack();
      return;
    }
    this.#manage(kind, (line) => {
      if (kind === "resume") return resume(line, deed);
      if (kind === "rate") return changeSettings(line, { ratePerMinute }, deed);
      if (change !== undefined) {
        return changeSettings(line, { ...change, ratePlan: dated(change.ratePlan) }, deed);
      }
      return hold(line, { scope: kind === "hold-all" ? "all" : "entries", reason: "" }, deed);
    });
  }

  /** At whoever leads, if anybody does; nobody tries again. */
  #manage(
    what: string,
    deed: (line: EventLine) => Promise<unknown>,
    onDone = (_ok: boolean) => {},
  ): void {
    const process = this.leader()?.process();
    if (process === undefined || process.machine.isStopped) {
      onDone(false);
      return;
    }
    process.manage(EVENT, deed).then(
      (answer) => {
        this.trace.note(`${what}: ${answer.ok ? "done" : answer.code}`);
        onDone(answer.ok);
      },
      (error: unknown) => this.laws.break(`${what}: ${String(error)}`),
    );
  }

  /** Until a leader has heard it, and once a minute after that, as the purchase API does. */
  #reportSupply(seq = this.#supply.seq): void {
    const { isOut, seq: newest, heard } = this.#supply;
    if (seq < newest) return;
    this.#manage(
      `report ${seq}`,
      (line) => hearSupply(line, { soldOut: isOut, seq }),
      (isHeard) => {
        if (isHeard) this.#supply = { ...this.#supply, heard: Math.max(this.#supply.heard, seq) };
      },
    );
    this.time.after(heard < seq ? 1_000 : 60_000, () => this.#reportSupply(seq));
  }

  /** Nothing goes wrong any more, and the organizer lets the sale go on. */
  #calm(): void {
    this.trace.note("calm");
    const { database, network } = this;
    Object.assign(database.trouble, { slowMsMax: 0, failBeforePercent: 0, failAfterPercent: 0 });
    network.mendAll();
    for (const slot of this.mints) {
      slot.process()?.machine.goOn();
      slot.start();
    }
    this.#isCalm = true;
    this.#resumeUntilDone();
    this.#tellWhoIsLeft();
  }

  #resumeUntilDone(): void {
    const held = this.database.rows.recordOf(EVENT)?.facts.hold;
    if (held !== undefined) this.#manage("resume", (line) => resume(line, { actor: "test" }));
    this.time.after(2_000, () => this.#resumeUntilDone());
  }

  /** Whoever reads that it is sold out was told. */
  #tellWhoIsLeft(): void {
    if (this.shop.isOut && this.#supply.heard >= this.#supply.seq) {
      for (const fan of this.fans) if (fan.says("soldout")) fan.end("sold-out");
    }
    this.time.after(1_000, () => this.#tellWhoIsLeft());
  }

  #mint(name: string, keys: SimulatedKeys): MintSlot {
    const { time, random, network, database, laws } = this;
    const clock = new WallClock(time, {
      offsetMs: random.integer({ min: -800, max: 800 }),
      partsPerMillion: random.integer({ min: -200, max: 200 }),
    });
    return new MintSlot({
      ...{ name, time, clock, keys, log: this.#log(name) },
      onReturn: (shown, answered) => laws.shownPlace(shown, answered, clock.now()),
      storeOf: (machine) => {
        const store = simulatedStore({
          ...{ server: database, network, client: machine, link: `${name}>database` },
          onStep: (step) => laws.stepped(step, machine.clock.now()),
        });
        const gapped =
          this.#sabotage.gapNumbers === undefined
            ? store
            : {
                ...store,
                acquireLease: (request: LeaseRequest) =>
                  store.acquireLease({ ...request, gapNumbers: this.#sabotage.gapNumbers ?? 0 }),
              };
        return this.#sabotage.store?.(gapped, random) ?? gapped;
      },
      watchTokens: (tokens, machine) => {
        const watched = this.#watched(tokens, machine);
        return this.#sabotage.tokens?.(watched, random) ?? watched;
      },
    });
  }

  /** Signing takes a moment on another thread, in which a process can die. */
  #watched(tokens: Tokens, machine: Machine): Tokens {
    const { laws, random, trace } = this;
    const signing = () => machine.sleep(random.integer({ min: 0, max: SIGNING_MS_MAX }));
    return {
      ...tokens,
      ticket: async (claims) => {
        laws.ticket(claims);
        trace.note(`${machine.name} gives ${claims.n}`);
        await signing();
        return tokens.ticket(claims);
      },
      admission: async (claims) => {
        laws.admission(claims.n, claims.opensAt);
        await signing();
        const text = await tokens.admission(claims);
        this.admissions.signed(text, claims, machine.clock.offsetMs);
        trace.note(`${machine.name} admits ${claims.n} at ${claims.opensAt - START_MS}`);
        return text;
      },
      drip: async (claims) => {
        laws.statement(machine, claims);
        await signing();
        return tokens.drip(claims);
      },
    };
  }

  #locationParts(name: string, isolates: number): LocationParts {
    const { time, random, network } = this;
    const clock = new WallClock(time, {
      offsetMs: random.integer({ min: -1_500, max: 1_500 }),
      partsPerMillion: random.integer({ min: -500, max: 500 }),
    });
    const machine = new Machine(name, time, clock);
    const { skewSeconds = SKEW_SECONDS } = this.#sabotage;
    return { machine, network, random, mints: this.mints, event: EVENT, isolates, skewSeconds };
  }

  /** What a mint logs as an error is a fault of ours, unless it is the store's trouble. */
  #log(name: string): Log {
    const log: Log = {
      ...silentLog,
      info: (message) => this.trace.note(`${name} ${message}`),
      warn: (message) => this.trace.note(`${name} ${message}`),
      error: (message, error) => {
        this.trace.note(`${name} ${message} ${String(error)}`);
        if (!(error instanceof AppError)) this.laws.break(`${name} fails: ${String(error)}`);
      },
      with: () => log,
    };
    return log;
  }
}

/** Most press at once, some late and perhaps too late, some never. */
function pressing(plan: Plan, random: SeededRandomness): number | undefined {
  if (random.chance(20)) return undefined;
  return random.chance(70) ? PROMPT_MS : 1_000 * (plan.horizonSeconds + plan.claimWindowSeconds);
}

function dated(
  steps: Plan["ratePlan"],
): { at: number; ratePerMinute: number; ramp?: boolean | undefined }[] {
  return steps.map((step) => ({ ...step, at: START_MS + step.at }));
}

function opening({ startsAt }: Plan): { startsAt: number; joinableAt: number } {
  return { startsAt: START_MS + startsAt, joinableAt: START_MS + Math.floor(startsAt / 2) };
}

/** What the manifest says of it: pages have it from the page itself. */
function aboutOf(plan: Plan): ManifestEvent {
  return {
    ...{
      event: EVENT,
      title: "Spring",
      hosts: ["tickets.example"],
      paths: ["/spring*"],
      bypass: [],
    },
    ...{ homePath: "/spring", holdingStatus: 200, accent: "#0b6e4f", endsAt: START_MS + DAY_MS },
    lifetimeSeconds: plan.lifetimeSeconds,
    claimWindowSeconds: Math.min(plan.claimWindowSeconds, plan.lifetimeSeconds),
    ...(plan.startsAt === 0 ? {} : opening(plan)),
  };
}

function secret(random: SeededRandomness): string {
  return Buffer.from(random.bytes(32)).toString("base64url");
}

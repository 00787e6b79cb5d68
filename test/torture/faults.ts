/** Brings the planned faults over a world, one after the other and several at a time, and takes all of them back. */
import { setTimeout as sleep } from "node:timers/promises";

import type { WireFault } from "@vestibule/testkit/wire";

import type { Fault, FaultKind } from "./plan.ts";
import type { Trace } from "./trace.ts";
import type { AppProcess } from "./world/app-process.ts";
import type { Place, World } from "./world/world.ts";

/** Takes a fault back. */
type Undo = () => Promise<void> | void;

interface Target {
  readonly name: string;
  /** What no other fault may touch meanwhile. */
  readonly locks: readonly string[];
  readonly begin: () => Promise<Undo> | Undo;
}

export interface FaultsOptions {
  readonly world: World;
  readonly trace: Trace;
  /** Of the mint that answers as the leader just now. */
  readonly leader: () => number | undefined;
  readonly say: (line: string) => void;
}

export class Faults {
  /** Those that were brought, by kind. */
  readonly done = new Map<FaultKind, number>();
  readonly #options: FaultsOptions;
  readonly #busy = new Map<string, Promise<void>>();

  constructor(options: FaultsOptions) {
    this.#options = options;
  }

  /** Resolves when the last one is over. `mayGoOn`: asked before each. */
  async bring(plan: readonly Fault[], mayGoOn: () => boolean): Promise<void> {
    for (const [index, fault] of plan.entries()) {
      if (!mayGoOn()) break;
      const target = targetOf(fault, this.#options);
      for (const lock of target.locks) await this.#busy.get(lock);
      this.#options.say(
        `fault ${index + 1} of ${plan.length}: ${target.name} ${wordsOf(fault.kind)}, ${fault.lastsMs} ms`,
      );
      const over = this.#last(target, fault.lastsMs);
      for (const lock of target.locks) this.#busy.set(lock, over);
      this.done.set(fault.kind, (this.done.get(fault.kind) ?? 0) + 1);
      await sleep(fault.thenMs);
    }
    await Promise.all(this.#busy.values());
  }

  async #last({ begin, locks }: Target, ms: number): Promise<void> {
    const from = Date.now();
    const undo = await begin();
    const since = Date.now();
    await sleep(ms);
    // Nothing runs again before this.
    const until = Date.now();
    await undo();
    this.#options.trace.suffered.push({ parts: locks, from, since, until });
  }
}

function wordsOf(kind: FaultKind): string {
  return kind.slice(kind.indexOf(": ") + 2);
}

function targetOf(fault: Fault, { world, leader }: FaultsOptions): Target {
  const { kind } = fault;
  const [who = ""] = kind.split(":");
  if (who === "database") return { name: who, locks: [who], begin: () => onDatabase(kind, world) };
  if (who === "store") return { name: who, locks: [who], begin: () => onStore(kind, world) };
  if (who === "all mints") {
    const locks = world.mints.map(({ process }) => process.name);
    return { name: who, locks, begin: () => onAllMints(kind, world) };
  }
  const leads = who === "mint" && fault.leader ? leader() : undefined;
  const place = (who === "mint" ? world.mints : world.purchases)[leads ?? fault.index];
  if (place === undefined) throw new RangeError(`there is no ${who} ${fault.index}`);
  const { name } = place.process;
  const shown = leads === undefined ? name : `${name}, which leads,`;
  return { name: shown, locks: [name], begin: () => onPlace(kind, place) };
}

async function onPlace(kind: FaultKind, { process, database, front }: Place): Promise<Undo> {
  const cuts: Partial<Record<string, readonly [typeof front, WireFault]>> = {
    "cut from its database": [database, "cut"],
    "its database stands still": [database, "freeze"],
    "answers of its database are lost": [database, "lose-answers"],
    "out of reach": [front, "cut"],
    "its network stands still": [front, "freeze"],
    "its answers are lost": [front, "lose-answers"],
  };
  const cut = cuts[wordsOf(kind)];
  if (cut === undefined) return onProcess(kind, process);
  const [wire, fault] = cut;
  wire.break(fault);
  return () => wire.mend();
}

async function onProcess(kind: FaultKind, process: AppProcess): Promise<Undo> {
  if (kind.includes("stopped")) {
    process.pause();
    return () => process.resume();
  }
  await process.down(kind.endsWith("killed") ? "SIGKILL" : "SIGTERM");
  return () => process.up();
}

async function onAllMints(kind: FaultKind, { mints }: World): Promise<Undo> {
  const undone = await Promise.all(mints.map(({ process }) => onProcess(kind, process)));
  return async () => {
    for (const undo of undone) await undo();
  };
}

async function onDatabase(kind: FaultKind, { postgres }: World): Promise<Undo> {
  if (kind === "database: restarted") {
    await postgres.restart();
    return () => {};
  }
  await postgres.kill();
  return () => postgres.restart();
}

async function onStore(kind: FaultKind, { store }: World): Promise<Undo> {
  if (store === undefined) throw new Error("this world has no store");
  if (kind === "store: stopped") {
    store.pause();
    return () => store.resume();
  }
  await store.kill();
  return () => store.restart();
}

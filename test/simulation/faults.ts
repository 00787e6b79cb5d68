/** What goes wrong, done to the world. Each ends by itself, or with the calm. */
import { LEASE_TTL_MS } from "@vestibule/mint/src/limits.ts";
import type { Fault } from "./plan.ts";
import type { Laws } from "./laws/laws.ts";
import type { Trace } from "./laws/trace.ts";
import type { Location } from "./actors/location.ts";
import { type DatabaseServer, REPLICA_LAG_MS_MAX } from "./world/database.ts";
import type { MintSlot } from "./world/mint-address.ts";
import type { Network } from "./world/network.ts";
import type { VirtualTime } from "./world/virtual-time.ts";

/** What faults are done to. */
export interface Afflicted {
  readonly time: VirtualTime;
  readonly network: Network;
  readonly database: DatabaseServer;
  readonly trace: Trace;
  readonly laws: Laws;
  readonly mints: readonly MintSlot[];
  readonly locations: readonly Location[];
  /** Of those that believe that they lead. */
  leader(): MintSlot | undefined;
}

/** After SIGTERM a process has this long. */
const GRACE_MS = 8_000;

const CLOCK_STEP_MS_MAX = 1_500;
const SLOW_MS_MAX = 3_000;

export function applyFault(sale: Afflicted, fault: Fault): void {
  const { time, network, database, trace, mints } = sale;
  const slot = sale.leader() ?? mints[fault.which % mints.length];
  if (slot === undefined) return;
  const isForLeader = fault.amount <= 70;
  const target = isForLeader ? slot : (mints[fault.which % mints.length] ?? slot);
  const later = (run: () => void): void => void time.after(fault.lastsMs, run);
  trace.note(`fault ${fault.kind} ${target.name} for ${fault.lastsMs}`);
  switch (fault.kind) {
    case "kill":
      target.kill();
      later(() => target.start());
      return;
    case "deploy":
      void target.terminate(GRACE_MS).then(() => later(() => target.start()));
      return;
    case "stall": {
      const machine = target.process()?.machine;
      machine?.stop();
      later(() => machine?.goOn());
      return;
    }
    case "cut-database":
      network.cut(target.link);
      later(() => network.mend(target.link));
      return;
    case "cut-mint": {
      const location = sale.locations[fault.which % sale.locations.length];
      for (const mint of isForLeader ? mints : [target]) {
        const link = `${location?.machine.name}>${mint.url}`;
        network.cut(link);
        later(() => network.mend(link));
      }
      return;
    }
    case "restart-database":
      database.restart();
      return;
    case "slow-database":
      database.trouble.slowMsMax = Math.ceil((SLOW_MS_MAX * fault.amount) / 100);
      later(() => {
        database.trouble.slowMsMax = 0;
      });
      return;
    case "failing-commits":
      database.trouble[fault.which % 2 === 0 ? "failBeforePercent" : "failAfterPercent"] =
        fault.amount;
      later(() => {
        Object.assign(database.trouble, { failBeforePercent: 0, failAfterPercent: 0 });
      });
      return;
    case "weather":
      Object.assign(network.weather, {
        lostPermille: fault.amount * 2,
        doubledPermille: fault.amount * 2,
        latePermille: fault.amount * 2,
      });
      later(() => {
        Object.assign(network.weather, { lostPermille: 0, doubledPermille: 0, latePermille: 0 });
      });
      return;
    case "clock-step": {
      const wanted = fault.amount * 30 - CLOCK_STEP_MS_MAX;
      // As far as a time daemon lets it come.
      const step =
        Math.max(-CLOCK_STEP_MS_MAX, Math.min(CLOCK_STEP_MS_MAX, wanted)) - target.clock.offsetMs;
      target.clock.stepBy(step);
      return;
    }
    case "fail-over":
      failOver(sale, Math.ceil((REPLICA_LAG_MS_MAX * fault.amount) / 100));
      return;
    case "forget-leader":
      target.kill();
      later(() => target.start());
      // As long as a lease lasts, and up to what a replica lags behind.
      time.after(LEASE_TTL_MS + fault.amount * 20, () => failOver(sale, REPLICA_LAG_MS_MAX));
  }
}

function failOver({ database, trace, laws }: Afflicted, lagMs: number): void {
  const forgotten = database.failOver({ lagMs });
  trace.note(`${forgotten} commits are forgotten`);
  if (forgotten > 0) laws.hasForgotten = true;
}

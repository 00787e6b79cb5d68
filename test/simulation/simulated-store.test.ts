import { creditConformance } from "@vestibule/mint/test/support/credit-conformance.ts";
import { archiveConformance } from "@vestibule/mint/test/support/archive-conformance.ts";
import { premintConformance } from "@vestibule/mint/test/support/premint-conformance.ts";
import { storeConformance } from "@vestibule/mint/test/support/store-conformance.ts";
import type { MintStore } from "@vestibule/mint/src/store/store.ts";
import { SeededRandomness } from "@vestibule/testkit/seeded-randomness";
import { describe } from "vitest";
import { DatabaseServer } from "./world/database.ts";
import { Machine } from "./world/machine.ts";
import { Network } from "./world/network.ts";
import { simulatedStore } from "./world/simulated-store.ts";
import { VirtualTime } from "./world/virtual-time.ts";

/** What keeps a call waiting is virtual: time goes on until it is answered. */
function driven(store: MintStore, time: VirtualTime): MintStore {
  return new Proxy(store, {
    get: (target, name) => {
      const method = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
      return async (...args: unknown[]) => {
        const call = { isOver: false };
        const answer = method(...args).finally(() => {
          call.isOver = true;
        });
        answer.catch(() => {});
        while (!call.isOver) await time.step();
        return answer;
      };
    },
  });
}

describe("the simulated store", () => {
  const make = async () => {
    const time = new VirtualTime();
    const random = new SeededRandomness(1);
    const server = new DatabaseServer(time, random);
    const network = new Network(time, random);
    const client = new Machine("mint", time);
    const store = simulatedStore({ server, network, client, link: "mint>database" });
    return {
      store: driven(store, time),
      expireLease: async () => server.machine.clock.stepBy(3_600_000),
      promote: async () => server.promote(),
    };
  };
  storeConformance(make);
  creditConformance(make);
  premintConformance(make);
  archiveConformance(make);
});

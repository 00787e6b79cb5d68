import { FakeClock } from "@vestibule/testkit/fake-clock";
import { describe } from "vitest";
import { creditConformance } from "./support/credit-conformance.ts";
import { MemoryStore } from "./support/memory-store.ts";
import { archiveConformance } from "./support/archive-conformance.ts";
import { premintConformance } from "./support/premint-conformance.ts";
import { storeConformance } from "./support/store-conformance.ts";

describe("the store in memory", () => {
  const make = async () => {
    const clock = new FakeClock();
    const store = new MemoryStore(clock);
    return {
      store,
      expireLease: async () => void clock.advance(3_600_000),
      promote: async () => void (store.history = "1/2"),
    };
  };
  storeConformance(make);
  creditConformance(make);
  premintConformance(make);
  archiveConformance(make);
});

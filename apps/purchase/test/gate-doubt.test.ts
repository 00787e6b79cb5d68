/** When the gate's "sold out" is not the last word, and how it becomes that again. */
import { AppError } from "@vestibule/kernel/app-error";
import { silentLog } from "@vestibule/service/log";
import { describe, expect, test } from "vitest";
import { createGateKeeper } from "../src/gate-keeper.ts";
import { createGateRepair, type GateRepair } from "../src/gate-repair.ts";
import type { Ledger } from "../src/ledger-types.ts";
import {
  expectAgreement,
  expectBuyersGetThrough,
  gateWorld,
  type GateWorld,
  portOf,
  SEAT,
} from "./gate-world.ts";
import { many, tally } from "./ledger-world.ts";

describe("a gate is sure again after one round", () => {
  /** Of two seats both are sold, to "a" and "b"; then something happens that the gate cannot see through. */
  test.each<[string, (world: GateWorld) => Promise<unknown>]>([
    ["the organizer lowered the total", async (world) => void (world.ledger.total = 3)],
    [
      "somebody bought past it",
      async (world) => world.ledger.purchase({ ...SEAT, jti: "past", quantity: 1 }),
    ],
    ["it was flushed", async (world) => world.gate.flush()],
    [
      "a lease was given back while its holder tried again elsewhere",
      async (world) => {
        const wish = { ...SEAT, jti: "twice", quantity: 1 };
        const pass = await world.keeper.enter(wish);
        await world.gate.settle({ ...wish, sold: 0 });
        world.keeper.leave(pass, world.ledger.purchase(wish));
      },
    ],
    [
      "an admission bought less than its lease was for, which hid who bought past it",
      async (world) => {
        await world.keeper.enter({ ...SEAT, jti: "less", quantity: 2 });
        world.ledger.purchase({ ...SEAT, jti: "less", quantity: 1 });
        world.ledger.purchase({ ...SEAT, jti: "past", quantity: 1 });
      },
    ],
    [
      "an admission was unspent by a fault and bought again",
      async (world) => {
        world.ledger.taken -= world.ledger.buyers.get("a") ?? 0;
        world.ledger.buyers.delete("a");
        await world.repair.round();
        await world.buy("a");
      },
    ],
  ])("%s", async (_name, happens) => {
    const world = gateWorld(4);
    await world.repair.round();
    await world.buy("a");
    await world.buy("b");
    await happens(world);
    await world.calm();
    await expectAgreement(world);
    await expectBuyersGetThrough(world);
    for (const jti of world.ledger.buyers.keys()) {
      expect((await world.keeper.enter({ ...SEAT, jti, quantity: 1 })).kind).toBe("known");
    }
  });

  test("not with more buyers than may be told: then every loser costs a question, and nobody is wronged", async () => {
    const world = gateWorld(2, {});
    const ledger = { ...portOf(world.ledger), buyers: async () => undefined };
    const repair = createGateRepair({
      gate: world.gate,
      ledger,
      listSkus: async () => [{ ...SEAT, perPurchaseMax: 10 }],
      clock: world.clock,
      log: silentLog,
    });
    await world.buy("a");
    await world.buy("b");
    await world.keeper.idle();
    await world.repair.idle();
    world.gate.flush();
    await repair.round();
    expect((await world.gate.inspect(SEAT)).sure).toBe(false);
    expect((await world.keeper.enter({ ...SEAT, jti: "a", quantity: 1 })).kind).toBe("doubted");
    expect((await world.keeper.enter({ ...SEAT, jti: "c", quantity: 1 })).kind).toBe("sold-out");
  });
});

describe("PostgreSQL away, with the gate at work", () => {
  test("whoever comes when every seat is counted off for lost transactions hears of the outage, on every instance, and nobody is sold out", async () => {
    const world = gateWorld(16);
    await world.repair.round();
    let isAway = true;
    let looks = 0;
    const away =
      <Of extends unknown[], Value>(work: (...of: Of) => Promise<Value>) =>
      async (...of: Of): Promise<Value> => {
        looks += 1;
        if (isAway) throw new AppError("unavailable");
        return work(...of);
      };
    const port = portOf(world.ledger);
    const ledger = { standing: away(port.standing), buyers: away(port.buyers) };
    const instances = many(2, () => {
      const repair = createGateRepair({
        gate: world.gate,
        ledger,
        listSkus: async () => [{ ...SEAT, perPurchaseMax: 10 }],
        clock: world.clock,
        log: silentLog,
      });
      return { repair, keeper: createGateKeeper(world.gate, { repair, ledger, log: silentLog }) };
    });
    isAway = false;
    for (const { repair } of instances) await repair.round();
    isAway = true;
    const enter = async (index: number): Promise<string> => {
      const { keeper } = instances[index % 2]!;
      try {
        const pass = await keeper.enter({ ...SEAT, jti: `jti-${index}`, quantity: 1 });
        if (pass.kind === "leased") keeper.leave(pass, "lost");
        return pass.kind;
      } catch (error) {
        return error instanceof AppError ? error.code : "another error";
      }
    };
    const kinds: string[] = [];
    for (const index of many(40, (each) => each)) kinds.push(await enter(index));
    expect(tally(kinds.map((kind) => ({ kind })))).toEqual({ leased: 16, unavailable: 24 });
    // For as long as it lasts, also when nobody came for minutes.
    for (let minutes = 0; minutes < 3; minutes += 1) {
      world.clock.advance(60_000);
      for (const { repair } of instances) await repair.round();
      expect(await enter(100 + minutes)).toBe("unavailable");
    }
    isAway = false;
    for (const { repair } of instances) await repair.round();
    await expectAgreement(world);
    expect(await enter(200)).toBe("leased");
    looks = 0;
    world.clock.advance(60_000);
    await instances[0]!.repair.round();
    expect(looks).toBe(1);
  });

  test("a crowd that comes after one lost answer asks PostgreSQL once together, and not at all when leases of then are over", async () => {
    const world = gateWorld(1);
    await world.repair.round();
    let looks = 0;
    const port = portOf(world.ledger);
    const look = Promise.withResolvers<void>();
    const ledger: Pick<Ledger, "standing" | "buyers"> = {
      ...port,
      standing: async (of) => {
        looks += 1;
        await look.promise;
        return port.standing(of);
      },
    };
    const repair = createGateRepair({
      gate: world.gate,
      ledger,
      listSkus: async () => [],
      clock: world.clock,
      log: silentLog,
    });
    const keeper = createGateKeeper(world.gate, {
      repair: { ...bound(repair), ask: () => {}, perPurchaseMax: async () => 10 },
      ledger,
      log: silentLog,
    });
    const wishOf = (jti: string) => ({ ...SEAT, jti, quantity: 1 });
    keeper.leave(await keeper.enter(wishOf("lost")), "lost");
    const passes = many(100, (index) => keeper.enter(wishOf(`jti-${index}`)));
    await world.keeper.idle();
    look.resolve();
    // It was not committed: the seat is there, and PostgreSQL decides who gets it.
    expect(tally(await Promise.all(passes))).toEqual({ doubted: 100 });
    expect(looks).toBe(1);
    world.ledger.purchase(wishOf("jti-7"));
    expect((await keeper.enter(wishOf("late"))).kind).toBe("sold-out");
    expect(looks).toBe(2);
    world.clock.advance(25_000);
    expect((await keeper.enter(wishOf("later"))).kind).toBe("sold-out");
    expect(looks).toBe(2);
  });
});

/** Methods that may be taken apart. */
function bound(repair: GateRepair): GateRepair {
  return {
    ask: (of) => repair.ask(of),
    tick: () => repair.tick(),
    round: () => repair.round(),
    perPurchaseMax: (of) => repair.perPurchaseMax(of),
    look: (of) => repair.look(of),
    noteTrouble: () => repair.noteTrouble(),
    isTroubled: () => repair.isTroubled(),
    idle: () => repair.idle(),
  };
}

/* oxlint-disable typescript/no-non-null-assertion -- missing values fail the test just as well */
/** What every adapter of `MintStore` must do for places that are given beforehand. */
import { epochMs } from "@vestibule/kernel/units";
import { expect, it } from "vitest";
import { LeaseLostError, type Premint } from "../../src/store/store.ts";
import { settings } from "./settings.ts";
import type { StoreUnderTest } from "./store-conformance.ts";

const at = epochMs(1_700_000_000_000);
const audit = { actor: "test", action: "premint", detail: {} };
const row: Premint = { batch: "one", first: 5, count: 10, digest: "d", at };
let names = 0;

export function premintConformance(make: () => Promise<StoreUnderTest>): void {
  async function led() {
    const under = await make();
    const event = `premint-${(names += 1)}`;
    const lead = async () => {
      await under.expireLease();
      const holder = `premint-holder-${(names += 1)}`;
      return (await under.store.acquireLease({ holder, ttlMs: 60_000, gapNumbers: 100 })).lead!;
    };
    const first = await lead();
    await under.store.createEvent(first, { settings: settings({ event }), at, audit });
    await under.store.reserveNumbers(first, { event, first: 1, through: 64 });
    return { store: under.store, event, lead: first, takeOver: lead };
  }

  it("law 1: a batch has one record, whoever notes it again, with whatever numbers", async () => {
    const { store, event, lead, takeOver } = await led();
    expect(await store.findPremint(event, "one")).toBeUndefined();
    expect(await store.recordPremint(lead, { event, premint: row, audit })).toEqual(row);
    const again = { event, premint: { ...row, first: 30 }, audit };
    expect(await store.recordPremint(lead, again)).toEqual(row);
    const next = await takeOver();
    expect(await store.recordPremint(next, again)).toEqual(row);
    expect(await store.findPremint(event, "one")).toEqual(row);
  });

  it("leaves no number of a batch in doubt: a takeover knows that they are given", async () => {
    const { store, event, lead, takeOver } = await led();
    await store.recordPremint(lead, { event, premint: row, audit });
    await takeOver();
    expect((await store.loadEvent(event))!.blocks).toMatchObject([{ first: 1, issuedThrough: 14 }]);
  });

  it("notes nothing for a leader that was replaced", async () => {
    const { store, event, lead, takeOver } = await led();
    await takeOver();
    const late = store.recordPremint(lead, { event, premint: row, audit });
    await expect(late).rejects.toThrow(LeaseLostError);
    expect(await store.findPremint(event, "one")).toBeUndefined();
  });

  it("notes nothing outside of the leader's own block", async () => {
    const { store, event, lead } = await led();
    const beyond = { event, premint: { ...row, first: 60 }, audit };
    await expect(store.recordPremint(lead, beyond)).rejects.toThrow("a batch lies in the block");
    expect(await store.findPremint(event, "one")).toBeUndefined();
    expect((await store.loadEvent(event))!.blocks[0]!.issuedThrough).toBe(0);
  });
}

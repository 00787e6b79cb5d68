import { FakeClock } from "@vestibule/testkit/fake-clock";
import { describe, expect, it } from "vitest";
import { BLOCK_NUMBERS_MAX } from "../src/limits.ts";
import { Sequencer } from "../src/line/sequencer.ts";

function world(options: { queueMax?: number } = {}) {
  const clock = new FakeClock();
  const asked: number[] = [];
  const pending: PromiseWithResolvers<void>[] = [];
  const sequencer = new Sequencer({
    first: 11,
    clock,
    reserve: (through) => {
      asked.push(through);
      const answer = Promise.withResolvers<void>();
      pending.push(answer);
      return answer.promise;
    },
    ...options,
  });
  const grant = async () => {
    pending.shift()?.resolve();
    await Promise.resolve();
    await Promise.resolve();
  };
  return { clock, sequencer, asked, pending, grant };
}

describe("the sequencer", () => {
  it("gives no number before it is reserved", async () => {
    const { sequencer, grant } = world();
    expect(sequencer.take()).toBeUndefined();
    const refilled = sequencer.refilled();
    expect(sequencer.take()).toBeUndefined();
    await grant();
    await refilled;
    expect(sequencer.take()).toBe(11);
    expect(sequencer.issuedThrough).toBe(11);
  });

  it("gives a run in one piece, however small its blocks are, and whoever takes beside it", async () => {
    const { sequencer, grant, asked } = world();
    const run = sequencer.takeRun(1_000);
    await grant();
    const beside = [sequencer.take(), sequencer.take()];
    await grant();
    const first = await run;
    expect(beside.some((n) => n !== undefined && n >= first && n < first + 1_000)).toBe(false);
    await grant();
    expect(sequencer.take()).toBe(first + 1_000);
    expect(asked.at(-1)).toBeGreaterThanOrEqual(first + 999);
  });

  it("gives no part of a run when it stops meanwhile", async () => {
    const { sequencer } = world();
    const run = sequencer.takeRun(1_000);
    sequencer.stop();
    await expect(run).rejects.toMatchObject({ code: "unavailable" });
    expect(sequencer.issuedThrough).toBe(10);
  });

  it("counts up without a gap or a repeat, through many reservations", async () => {
    const { sequencer, grant, clock, asked } = world();
    const given: number[] = [];
    while (given.length < 30_000) {
      const n = sequencer.take();
      if (n !== undefined) {
        given.push(n);
        continue;
      }
      clock.advance(50);
      const refilled = sequencer.refilled();
      await grant();
      await refilled;
    }
    expect(given).toEqual(Array.from({ length: 30_000 }, (_, index) => 11 + index));
    for (const [index, through] of asked.entries()) {
      expect(through - (asked[index - 1] ?? 10)).toBeLessThanOrEqual(BLOCK_NUMBERS_MAX);
    }
  });

  it("reserves ahead: while joins are steady nobody waits", async () => {
    const { sequencer, grant, pending } = world();
    const first = sequencer.refilled();
    await grant();
    await first;
    for (let index = 0; index < 5_000; index += 1) {
      expect(sequencer.take()).toBe(11 + index);
      if (pending.length > 0) await grant();
    }
  });

  it("refuses when the queue is full, and lets the waiting in, in order, later", async () => {
    const { sequencer, grant } = world({ queueMax: 3 });
    const order: number[] = [];
    const waiting = [1, 2, 3].map((who) => sequencer.refilled().then(() => void order.push(who)));
    await expect(sequencer.refilled()).rejects.toMatchObject({
      code: "unavailable",
      retryAfterSeconds: 1,
    });
    await grant();
    await Promise.all(waiting);
    expect(order).toEqual([1, 2, 3]);
  });

  it("tells everybody who waits when a reservation fails, and asks again for the next", async () => {
    const { sequencer, pending, grant, asked } = world();
    const waiting = [sequencer.refilled(), sequencer.refilled()];
    pending.shift()?.reject(new Error("away"));
    for (const one of waiting) await expect(one).rejects.toThrow("away");
    const again = sequencer.refilled();
    expect(asked).toHaveLength(2);
    await grant();
    await again;
    expect(sequencer.take()).toBe(11);
  });

  it("gives nothing once it is stopped, also what it has reserved", async () => {
    const { sequencer, grant } = world();
    const refilled = sequencer.refilled();
    await grant();
    await refilled;
    sequencer.stop();
    expect(sequencer.take()).toBeUndefined();
    await expect(sequencer.refilled()).rejects.toMatchObject({ code: "unavailable" });
  });

  it("is idle once no reservation is on its way, however it ends", async () => {
    const { sequencer, pending } = world();
    for (const end of ["resolve", "reject"] as const) {
      sequencer.reserveAhead();
      let isIdle = false;
      const idle = sequencer.idle().then(() => (isIdle = true));
      await new Promise(setImmediate);
      expect(isIdle).toBe(false);
      pending.shift()?.[end]();
      await idle;
    }
    sequencer.stop();
    await sequencer.idle();
  });
});

/** An app with the client library in token mode, against the edge's own code: the example of docs/client.md. */
import { createLineClient } from "@vestibule/client/line-client";
import { type Tokens, withTokens } from "@vestibule/client/tokens";
import type { View } from "@vestibule/client/view";
import { Waiting } from "@vestibule/client/waiting";
import type { EdgeEvent, EdgePlace } from "@vestibule/contracts/line-api";
import { epochMs } from "@vestibule/kernel/units";
import { expect, test } from "vitest";
import { HOST, type World, createWorld } from "./world.ts";

/** Where an app keeps its secrets. */
class Keychain {
  kept: Tokens = {};
  read(): Tokens {
    return this.kept;
  }
  write(tokens: Tokens): void {
    this.kept = tokens;
  }
}

/** Timers of the world's own time, which goes by when the test says so. */
function deviceOf(world: World) {
  let timers: { readonly id: number; readonly at: number; readonly work: () => void }[] = [];
  let ids = 0;
  return {
    now: () => world.now,
    ticks: () => world.now,
    random: () => 0.5,
    isHidden: () => false,
    isOnline: () => true,
    startTimer: (work: () => void, delayMs: number) => {
      ids += 1;
      timers.push({ id: ids, at: world.now + delayMs, work });
      return ids;
    },
    stopTimer: (gone: number) => {
      timers = timers.filter(({ id }) => id !== gone);
    },
    /** Fires what is due next, at its time. */
    fireNext(): void {
      const [next] = timers.toSorted((a, b) => a.at - b.at);
      if (next === undefined) throw new Error("nothing is planned");
      timers = timers.filter(({ id }) => id !== next.id);
      world.now = epochMs(Math.max(world.now, next.at));
      next.work();
    },
  };
}

test("joins, waits, claims, goes in and leaves without a cookie", async () => {
  const world = await createWorld();
  const store = new Keychain();
  const ports = {
    now: () => world.now,
    fetch: (url: string, request: object) => world.get(url, request),
  };
  const line = createLineClient("demo", withTokens(ports, HOST, store));
  const settings = await (await world.get("/_vestibule/events/demo")).json<EdgeEvent>();
  const device = deviceOf(world);
  const seen: View[] = [];
  let isIn = false;
  const waiting = new Waiting({ settings }, world.now, {
    ...{ device, line },
    shell: {
      show: (view) => seen.push(view),
      enter: () => (isIn = true),
      tell: () => undefined,
      goBack: () => undefined,
    },
  });
  waiting.start();
  await expect
    .poll(() => {
      if (!isIn) device.fireNext();
      return isIn;
    })
    .toBe(true);
  expect(seen.map(({ state }) => state)).toContain("turn");

  const { visitor, ticket, admission } = store.kept;
  const shown = { "Vestibule-Visitor": visitor ?? "", "Vestibule-Ticket": ticket ?? "" };
  const me = await (
    await world.get("/_vestibule/events/demo/me", { headers: shown })
  ).json<EdgePlace>();
  expect(me).toMatchObject({ number: 1, state: "turn" });
  const entry = { ...shown, "Vestibule-Admission": admission ?? "" };
  expect((await world.get("/events/demo", { headers: entry })).status).toBe(200);
  expect(world.toOrigin()).toHaveLength(1);

  await waiting.leave();
  expect(store.kept).toEqual({});
  expect(seen.at(-1)?.state).toBe("gone");
  expect(world.sent.every(({ headers }) => !headers.has("cookie"))).toBe(true);
});

/** In a last call a poll tells what is true now, for what a location may cost a mint. */
import type { DripView } from "@vestibule/contracts/statements";
import { epochMs } from "@vestibule/kernel/units";
import { beforeEach, expect, test } from "vitest";
import { NOW, createWorld, type World } from "./world.ts";

const DRIP = "/_vestibule/events/demo/drip";
const lastCall = { from: NOW, until: NOW + 600_000 };
let world: World;
beforeEach(async () => {
  world = await createWorld();
  world.drip = { lastCall };
});

const poll = async (afterMs = 0) => {
  world.now = epochMs(world.now + afterMs);
  return (await world.get(DRIP)).json<DripView>();
};
const asked = () => world.sent.filter(({ url }) => url.endsWith("/drip")).length;
const say = (drip: World["drip"]) => {
  world.drip = drip;
  world.seq += 1;
};

test("every poll knows of it, as the mint said it", async () => {
  expect((await poll()).lastCall).toEqual(lastCall);
});

test("a location with one fan tells them what is true, not what their last poll has fetched", async () => {
  await poll();
  say({ lastCall, state: "soldout" });
  expect((await poll(800)).state).toBe("soldout");
  // Where there is no last call, that is what the next poll but one is for.
  say({});
  await poll(2_000);
  await world.settle();
  say({ state: "soldout" });
  expect((await poll(1_200)).state).toBe("open");
  await world.settle();
  expect((await poll()).state).toBe("soldout");
});

test("law 11: 2,000 polls in ten seconds cost a mint four calls a second, and nobody waits but who finds it due", async () => {
  await poll();
  const [before, slept] = [asked(), world.slept];
  for (let polls = 0; polls < 2_000; polls += 1) {
    world.now = epochMs(world.now + 5);
    await world.get(DRIP);
    await world.settle();
  }
  expect(asked() - before).toBeLessThanOrEqual(40);
  expect(asked() - before).toBeGreaterThan(35);
  expect(world.slept - slept).toBeLessThanOrEqual(120);
});

test("a mint that is away makes nobody wait for it a second time, and is asked as seldom as ever", async () => {
  await poll();
  world.mint = () => new Response("", { status: 503 });
  await poll(800);
  await world.settle();
  const [before, slept] = [asked(), world.slept];
  for (let polls = 0; polls < 100; polls += 1) expect((await poll(100)).lastCall).toEqual(lastCall);
  await world.settle();
  expect(world.slept).toBe(slept);
  // Two mints, after 1, 2 and 4 s.
  expect(asked() - before).toBeLessThanOrEqual(8);
});

test("a cache on the way may add a second to it, and not five", async () => {
  const header = async () => (await world.get(DRIP)).headers.get("cache-control");
  expect(await header()).toMatch(/^public, max-age=1, stale-if-error=\d+$/);
  say({});
  await poll(1_000);
  await world.settle();
  expect(await header()).toMatch(
    /^public, max-age=1, stale-while-revalidate=\d+, stale-if-error=\d+$/,
  );
});

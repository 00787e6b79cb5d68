/** A sale in which nobody waits: a newcomer hears of the slot at once, and polls cost what they cost. */
import { expect, test } from "vitest";
import { OWN_PAGE, VISITOR_A, type World, cookies, createWorld } from "./world.ts";

const TICKETS = "/_vestibule/events/demo/tickets";
const DRIP = "/_vestibule/events/demo/drip";
const NOBODY = { segments: [], committed: 0, serving: 0, issued: 0 };

const statements = (world: World) => world.sent.filter(({ url }) => url.endsWith("/drip")).length;

async function quietSale(): Promise<World> {
  const world = await createWorld();
  world.drip = NOBODY;
  await world.get(DRIP);
  await world.settle();
  return world;
}

async function join(world: World): Promise<void> {
  const Cookie = cookies({ visitor: VISITOR_A });
  expect((await world.post(TICKETS, { headers: { ...OWN_PAGE, Cookie } })).status).toBe(201);
}

test("the location asks in the background until the newcomer's number is committed", async () => {
  const world = await quietSale();
  const before = statements(world);
  await join(world);
  world.seq += 1;
  world.drip = { ...NOBODY, committed: 1 };
  await world.settle();
  expect(statements(world)).toBe(before + 1);
  // In the same second, by the clock of this location.
  expect(await (await world.get(DRIP)).json()).toMatchObject({ committed: 1 });
  expect(statements(world)).toBe(before + 1);
});

test("bounded: 20 newcomers whom the mint gives no slot cost one row of looks", async () => {
  const world = await quietSale();
  const before = statements(world);
  for (let i = 0; i < 20; i += 1) await join(world);
  await world.settle();
  const looks = statements(world) - before;
  expect(looks).toBeGreaterThan(1);
  expect(looks).toBeLessThanOrEqual(8);
});

test("while the mints do not answer, and behind a long line, nobody looks", async () => {
  const world = await quietSale();
  const before = statements(world);
  world.mint = ({ url }) =>
    url.endsWith("/drip") ? new Response("{}", { status: 500 }) : undefined;
  await join(world);
  await world.settle();
  // Both mints, once.
  expect(statements(world)).toBe(before + 2);

  const busy = await quietSale();
  busy.joined = 1_000;
  const asked = statements(busy);
  await join(busy);
  await busy.settle();
  expect(statements(busy)).toBe(asked);
});

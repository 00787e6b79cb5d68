import type { EventSettings } from "@vestibule/contracts/event-settings";
import { EVENTS_MAX, STATEMENT_BYTES_MAX } from "@vestibule/contracts/limits";
import { verifyManifest } from "@vestibule/token/verify-manifest";
import fc from "fast-check";
import { expect, it } from "vitest";
import { MANIFEST_JSON_BYTES_MAX } from "../src/limits.ts";
import { ManifestRoom } from "../src/line/manifest-room.ts";
import { type Listed, manifestClaims } from "../src/line/statement.ts";
import { settings } from "./support/settings.ts";
import { codeOf, ISSUER, memoryWorld, payload, type World } from "./support/world.ts";
import type { MemoryStore } from "./support/memory-store.ts";

/** Settings with looks of so many bytes: more than an organizer may set, where a test wants fewer of them. */
const heavy = (event: string, bytes: number): EventSettings => ({
  ...settings({ event }),
  looks: { texts: { en: { under: "x".repeat(bytes) } } },
});
const audit = { actor: "test", action: "create", detail: {} };

function create(world: World<MemoryStore>, wanted: EventSettings): Promise<string> {
  const term = world.mint.leading();
  const made = () => term.create(wanted, world.clock.now(), audit);
  return codeOf(term.room.take(wanted, made));
}

async function readAtLocation(world: World<MemoryStore>): Promise<number> {
  const text = await world.mint.leading().manifest();
  expect(text.length).toBeLessThanOrEqual(STATEMENT_BYTES_MAX);
  const keys = world.ring.verify;
  const options = { keys, issuer: ISSUER, now: world.clock.now(), skewSeconds: 5 };
  expect((await verifyManifest(text, options)).ok).toBe(true);
  return Buffer.byteLength(JSON.stringify(payload(text)));
}

it("200 events without looks of their own have room", async () => {
  const world = await memoryWorld();
  for (let index = 1; index < EVENTS_MAX; index += 1)
    expect(await create(world, settings({ event: `event-${index}` }))).toBe("ok");
  await readAtLocation(world);
});

it("looks that would make the manifest too long for locations are refused, and the fullest is taken by them", async () => {
  const world = await memoryWorld();
  const codes: string[] = [];
  for (let index = 0; codes.at(-1) !== "invalid-settings" && index < EVENTS_MAX; index += 1)
    codes.push(await create(world, heavy(`e-${index}`, 12_000)));
  expect(codes.length).toBeGreaterThan(60);
  expect(codes.at(-1)).toBe("invalid-settings");
  const { room, events } = world.mint.leading();
  expect(events).toHaveLength(codes.length);
  const [mistake] = room.mistakes(heavy("one-more", 12_000));
  expect(mistake).toMatchObject({
    field: "looks",
    message: expect.stringContaining(`locations take ${MANIFEST_JSON_BYTES_MAX}`),
  });
  // To the byte: what is left is given, and then nothing.
  const wanted = Number(/have (\d+) bytes/.exec(mistake?.message ?? "")?.[1]);
  const left = 12_000 - (wanted - MANIFEST_JSON_BYTES_MAX);
  const last = (bytes: number) => heavy("one-more", bytes);
  expect(room.mistakes(last(left + 1))).toHaveLength(1);
  expect(await create(world, last(left))).toBe("ok");
  const bytes = await readAtLocation(world);
  expect(bytes).toBeGreaterThan(MANIFEST_JSON_BYTES_MAX - 300);
  // Shorter always has room.
  expect(room.mistakes(heavy("e-1", 1))).toEqual([]);
});

it("whoever asks at the same time does not get the same room", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 1, max: 400_000 })), {
        maxLength: 12,
      }),
      fc.scheduler(),
      async (wanted, s) => {
        const events = new Map<string, Listed>();
        const clock = { now: () => 0 as never };
        const room = new ManifestRoom(() => [...events.values()], { clock });
        const taken = wanted.map(async ([which, bytes]) => {
          const one = heavy(`e-${which}`, bytes);
          const facts = { endedAt: undefined };
          const store = async () => void events.set(one.event, { settings: one, facts });
          return codeOf(room.take(one, () => s.schedule(Promise.resolve()).then(store)));
        });
        await s.waitFor(Promise.all(taken));
        const claims = manifestClaims([...events.values()], {
          issuer: ISSUER,
          seq: 1,
          now: clock.now(),
        });
        expect(JSON.stringify(claims).length).toBeLessThanOrEqual(MANIFEST_JSON_BYTES_MAX);
      },
    ),
    { numRuns: 20 },
  );
});

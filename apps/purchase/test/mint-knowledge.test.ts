import { ok, refuse } from "@vestibule/kernel/result";
import { epochMs, toSeconds } from "@vestibule/kernel/units";
import { parseJwks } from "@vestibule/keys/key-set";
import { sleep } from "@vestibule/feed/fetch-text.system";
import { createMintFeed } from "@vestibule/feed/mint-feed";
import { FakeClock } from "@vestibule/testkit/fake-clock";
import { signDrip, signManifest } from "@vestibule/token/sign";
import { beforeEach, expect, test } from "vitest";
import { createMintKnowledge, type MintKnowledge } from "../src/mint-knowledge.ts";
import { eventOf, ISSUER, newSigningKey } from "./purchase-world.ts";

let clock: FakeClock;
let events: string[];
let manifestsAsked: number;
let dripsAsked: string[];
/** Of an event that is not said here the end is far. */
let endsAt: Map<string, number>;
let knowledge: MintKnowledge;
/** The manifest is held back until this is called. */
let answerNow: (() => void) | undefined;
let isHeldBack: boolean;
/** What a plan says the rate will be. */
let rates: [number, number][];
let isAway: boolean;

beforeEach(async () => {
  clock = new FakeClock();
  events = ["spring"];
  manifestsAsked = 0;
  dripsAsked = [];
  endsAt = new Map();
  isHeldBack = false;
  rates = [];
  isAway = false;
  const { signingKey, publicJwk } = await newSigningKey();
  const bootKeys = await parseJwks({ keys: [publicJwk] });
  if (!bootKeys.ok) throw new Error(bootKeys.refusal.reason);
  let seq = 0;
  const feed = createMintFeed({
    mintUrls: ["https://mint.test"],
    issuer: ISSUER,
    skewSeconds: 5,
    bootKeys: bootKeys.value,
    // As long as real time takes: what is waited for is signed and verified meanwhile.
    sleep,
    fetchText: async ({ url }) => {
      if (isAway) return refuse({ reason: "unreachable" });
      const isManifest = url.endsWith("/v1/manifest");
      if (isManifest) manifestsAsked += 1;
      seq += 1;
      const iat = toSeconds(clock.now());
      const about = { iss: ISSUER, iat, exp: iat + 3_600, seq };
      const drip = /events\/(.*)\/drip$/.exec(url)?.[1];
      if (drip !== undefined) {
        dripsAsked.push(drip);
        const text = await signDrip(signingKey, {
          ...about,
          ...{ aud: drip, at: clock.now(), state: "open", segments: [], serving: 0, committed: 0 },
          ...{ skips: [], issued: 0, rate: 600, notice: "", cuts: [], endsAt: clock.now() + 1 },
          ...(rates.length === 0 ? {} : { rates }),
        });
        return ok({ text, roundTripMs: 1 });
      }
      const named = events.map((event) => {
        const known = eventOf(event);
        return { ...known, endsAt: endsAt.get(event) ?? known.endsAt };
      });
      const claims = { ...about, events: named };
      const text = await signManifest(signingKey, claims);
      if (isHeldBack && isManifest) await new Promise<void>((resolve) => (answerNow = resolve));
      return ok({ text, roundTripMs: 1 });
    },
  });
  knowledge = createMintKnowledge(feed);
  await knowledge.terms("spring", clock.now());
  manifestsAsked = 0;
});

const terms = (event: string) => knowledge.terms(event, clock.now());

test("an event that was set up a moment ago is found at once, before the next refresh is due", async () => {
  events.push("summer");
  expect(await terms("summer")).toMatchObject({ event: "summer" });
  clock.advance(1_000);
  events.push("winter");
  expect(await terms("winter")).toMatchObject({ event: "winter" });
  expect(manifestsAsked).toBe(2);
  expect(knowledge.events()).toEqual(["spring", "summer", "winter"]);
});

test("whoever asks at the same moment gets the same answer from one look", async () => {
  events.push("summer");
  const answers = await Promise.all(Array.from({ length: 100 }, () => terms("summer")));
  for (const answer of answers) expect(answer).toMatchObject({ event: "summer" });
  expect(manifestsAsked).toBe(1);
});

test("made-up names cause one look a second at most, and known ones none", async () => {
  for (let second = 0; second < 10; second += 1) {
    for (let each = 0; each < 100; each += 1) {
      expect(await terms(`junk-${second}-${each}`)).toBe("no-such-event");
      expect(await terms("spring")).toMatchObject({ event: "spring" });
      clock.advance(10);
    }
  }
  expect(manifestsAsked).toBeLessThanOrEqual(10);
});

test("a look that began before the event was set up is not the last word", async () => {
  clock.advance(10_000);
  isHeldBack = true;
  knowledge.tick(clock.now());
  await expect.poll(() => answerNow).toBeDefined();
  isHeldBack = false;
  events.push("summer");
  const asked = terms("summer");
  answerNow?.();
  expect(await asked).toMatchObject({ event: "summer" });
});

test("a clock that stepped back keeps nobody from looking", async () => {
  expect(await terms("summer")).toBe("no-such-event");
  clock.set(epochMs(clock.now() - 3_600_000));
  events.push("summer");
  expect(await terms("summer")).toMatchObject({ event: "summer" });
});

test("the drip's rate is known a moment after it was asked for, without waiting, and looked at every 15 s and not more", async () => {
  const rate = (event: string) => knowledge.rate(event, clock.now());
  expect(rate("spring")).toBeUndefined();
  await expect.poll(() => rate("spring")).toBe(600);
  for (let second = 0; second < 60; second += 1) {
    clock.advance(1_000);
    expect(rate("spring")).toBe(600);
    await sleep(0);
  }
  expect(dripsAsked.length).toBeLessThanOrEqual(5);
});

test("a higher rate that is planned within the two minutes that a last call is told ahead counts already", async () => {
  const now = clock.now();
  rates = [
    [now + 60_000, 900],
    [now + 90_000, 30],
    [now + 130_000, 5_000],
  ];
  await expect.poll(() => knowledge.rate("spring", now)).toBe(900);
  expect(knowledge.rate("spring", epochMs(now + 10_001))).toBe(5_000);
});

test("a rate that no mint bears out any more is not known", async () => {
  const rate = () => knowledge.rate("spring", clock.now());
  rate();
  await expect.poll(rate).toBe(600);
  isAway = true;
  clock.advance(30_000);
  expect(rate()).toBe(600);
  clock.advance(1_000);
  expect(rate()).toBeUndefined();
});

test("nobody asks for the rate of an event that has ended, or that there is not", async () => {
  events.push("autumn");
  endsAt.set("autumn", clock.now());
  expect(await terms("autumn")).toMatchObject({ event: "autumn" });
  for (let looks = 0; looks < 20; looks += 1) {
    expect(knowledge.rate("autumn", clock.now())).toBeUndefined();
    expect(knowledge.rate("winter", clock.now())).toBeUndefined();
    clock.advance(1_000);
    await sleep(0);
  }
  expect(dripsAsked).toEqual([]);
});

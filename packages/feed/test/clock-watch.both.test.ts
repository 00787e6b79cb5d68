import { beforeAll, describe, expect, test } from "vitest";
import { type ClockReport, clockReportSchema, type Passes } from "@vestibule/contracts/edges-api";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import { refuse, ok } from "@vestibule/kernel/result";
import { type EpochMs, epochMs, epochSeconds } from "@vestibule/kernel/units";
import type { PublicJwk } from "@vestibule/keys/public-key";
import { type SigningKey, importPrivateJwk } from "@vestibule/keys/signing-key";
import { signDrip, signManifest, signTime } from "@vestibule/token/sign";
import { watchClock } from "../src/clock-watch.ts";
import { sleep } from "../src/fetch-text.system.ts";
import {
  CLOCK_ASK_CALM_MS,
  CLOCK_ASK_SOON_MS,
  MINT_DEADLINE_MS,
  READING_TRUST_MS,
  REFRESH_SLACK_MS,
} from "../src/limits.ts";
import { createMintFeed } from "../src/mint-feed.ts";
import type { FeedAlarm, FetchText } from "../src/ports.ts";

const START = 1_800_000_000_000;
const ISSUER = "https://mint.example";
/** One way between location and mint. */
const WAY_MS = 20;
type Pair = { signingKey: SigningKey; publicJwk: PublicJwk };
let pair: Pair;
let stranger: Pair;

async function newPair(): Promise<Pair> {
  const made = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  const read = await importPrivateJwk(await crypto.subtle.exportKey("jwk", made.privateKey));
  if (!read.ok) throw new Error(read.refusal);
  return read.value;
}
beforeAll(async () => {
  [pair, stranger] = [await newPair(), await newPair()];
});

/** What a mint makes of a question. */
type Answering = (question: { nonce: string; at: number }) => ReturnType<FetchText>;

/** Named by the manifest: a drip that came before one that does not name it would be forgotten with it. */
const DEMO: ManifestEvent = {
  ...{ event: "demo", title: "Demo", hosts: ["shop.example"], paths: ["/demo"], bypass: [] },
  ...{ homePath: "/demo", lifetimeSeconds: 600, claimWindowSeconds: 180, holdingStatus: 200 },
  ...{ accent: "#0b6e4f", endsAt: START + 86_400_000 },
};

/** One location and its mints in simulated time, which is the mint's; what is asked takes `WAY_MS` each way. */
class World {
  now = START;
  /** The location's clock less the mint's. */
  offMs: number;
  wayMs = WAY_MS;
  keys: readonly PublicJwk[];
  keysSeq = 7;
  /** Key sets wait for this. */
  keysHeld: Promise<void> | undefined;
  isHolding = false;
  /** By which a statement is older than now: a cache on the way. */
  staleMs = 0;
  readonly reports: ClockReport[] = [];
  /** What went through bypass rules and was not heard of yet. */
  passed: Passes[] = [];
  readonly questions: string[] = [];
  readonly alarms: FeedAlarm[] = [];
  answer: Answering = (question) => this.time(question);

  constructor(offMs: number) {
    this.offMs = offMs;
    this.keys = [pair.publicJwk];
  }

  readonly clock = { now: (): EpochMs => epochMs(this.now + this.offMs) };

  async time(
    { nonce, at }: { nonce: string; at: number },
    by: Pair = pair,
    issuer = ISSUER,
  ): ReturnType<FetchText> {
    const time = await signTime(by.signingKey, { issuer, nonce, at: epochMs(at) });
    return ok({ text: JSON.stringify({ time }), roundTripMs: 2 * this.wayMs });
  }

  readonly fetchText: FetchText = async ({ url, body }) => {
    if (body !== undefined) this.questions.push(url);
    this.now += this.wayMs;
    const at = this.now;
    const answer = await (body === undefined ? this.#published(url, at) : this.#told(body, at));
    this.now += this.wayMs;
    return answer;
  };

  #told(body: string, at: number): ReturnType<FetchText> {
    const report = clockReportSchema.parse(JSON.parse(body));
    this.reports.push(report);
    return this.answer({ nonce: report.nonce, at });
  }

  async #published(url: string, now: number): ReturnType<FetchText> {
    const said = (text: string) => ok({ text, roundTripMs: 2 * this.wayMs });
    const isKeys = url.includes("jwks.json");
    this.isHolding = isKeys && this.keysHeld !== undefined;
    if (isKeys) await this.keysHeld;
    if (isKeys) return said(JSON.stringify({ keys: this.keys, seq: this.keysSeq }));
    const at = now - this.staleMs;
    const iat = epochSeconds(Math.floor(at / 1000));
    const signed = { iss: ISSUER, iat, seq: at, keysSeq: this.keysSeq };
    if (url.endsWith("/manifest"))
      return said(
        await signManifest(pair.signingKey, { ...signed, exp: iat + 604_800, events: [DEMO] }),
      );
    const drip = await signDrip(pair.signingKey, {
      ...{ ...signed, aud: "demo", exp: iat + 3_600, at, state: "open", segments: [], serving: 0 },
      ...{ committed: 0, skips: [], issued: 0, rate: 60, notice: "", cuts: [], endsAt: at + 9e6 },
    });
    return said(drip);
  }

  readonly feed = createMintFeed({
    mintUrls: ["https://one.example", "https://two.example"],
    ...{ issuer: ISSUER, skewSeconds: 5, sleep: () => sleep(5) },
    fetchText: (request) => this.fetchText(request),
    alarm: (alarm) => this.alarms.push(alarm),
    watch: watchClock({
      clock: this.clock,
      randomness: { bytes: (length) => crypto.getRandomValues(new Uint8Array(length)) },
      location: "fra",
      passes: {
        pending: () => this.passed,
        heard: (passes) => (this.passed = this.passed.filter((each) => !passes.includes(each))),
      },
    }),
  });

  /** Moves on, and does what a request would: whatever is due, in the background. */
  async pass(ms: number): Promise<void> {
    this.now += ms;
    await this.feed.tend("drip:demo", this.feed.clock.time?.now() ?? this.clock.now());
  }
}

describe("what an answer comes to, with a tolerance of 5 s", () => {
  test.each([
    [-600_000, "wrong"],
    [-66_000, "wrong"],
    [-6_000, "wrong"],
    [-4_000, "warn"],
    [-2_600, "warn"],
    [-2_400, "good"],
    [0, "good"],
    [2_600, "warn"],
    [4_000, "warn"],
    [6_000, "wrong"],
    [66_000, "wrong"],
    [600_000, "wrong"],
  ] as const)("%d ms off: %s", async (offMs, state) => {
    const world = new World(offMs);
    await world.feed.clock.ask();
    expect(world.feed.clock.health()).toEqual({
      state,
      offsetMs: offMs,
      uncertaintyMs: WAY_MS + 2,
      measuredAgoMs: 0,
    });
    expect(world.feed.clock.isWrong).toBe(state === "wrong");
    // Within the tolerance everybody goes by their own clock; beyond it, by the mint's.
    const time = world.feed.clock.time?.now();
    expect(time).toBe(state === "wrong" ? world.now : world.now + offMs);
  });
});

test("a clock that is set right is good again with the next question, within 5 s; one that is set wrong is noticed within 33 s", async () => {
  const world = new World(0);
  const { clock } = world.feed;
  const untilWrongIs = async (wanted: boolean): Promise<number> => {
    const since = world.now;
    while (clock.isWrong !== wanted) await world.pass(1_000);
    return world.now - since;
  };
  await clock.ask();
  for (const offMs of [600_000, -600_000, 8_000, -8_000]) {
    world.offMs = offMs;
    expect(await untilWrongIs(true)).toBeLessThan(CLOCK_ASK_CALM_MS * 1.1 + 3_000);
    world.offMs = 0;
    expect(await untilWrongIs(false)).toBeLessThan(CLOCK_ASK_SOON_MS + 3_000);
    expect(clock.health().state).toBe("good");
  }
  expect(world.alarms.filter(({ thing }) => thing === "clock").map(({ reason }) => reason)).toEqual(
    Array.from({ length: 4 }, () => ["clock-wrong", "clock-good"]).flat(),
  );
});

describe("what is no answer changes nothing, and the next mint is asked", () => {
  test.each<[string, (world: World) => Answering]>([
    [
      "to another question",
      (world) =>
        ({ at }) =>
          world.time({ nonce: "A".repeat(22), at }),
    ],
    ["by a stranger's key", (world) => (question) => world.time(question, stranger)],
    ["of another issuer", (world) => (question) => world.time(question, pair, "https://evil")],
    ["no JSON", () => async () => ok({ text: "<html>", roundTripMs: 1 })],
    ["no token", () => async () => ok({ text: '{"time":"x.y.z"}', roundTripMs: 1 })],
    ["of another shape", () => async () => ok({ text: "[]", roundTripMs: 1 })],
    ["too large", () => async () => refuse({ reason: "too-large" })],
    ["too many questions", () => async () => refuse({ reason: "status", status: 429 })],
    ["not the leader", () => async () => refuse({ reason: "status", status: 503 })],
    ["none in time", () => async () => refuse({ reason: "timeout" })],
    [
      "after too long",
      (world) => (question) => {
        world.now += MINT_DEADLINE_MS;
        return world.time({ ...question, at: world.now });
      },
    ],
  ])("%s", async (_title, answering) => {
    const world = new World(600_000);
    const bad = answering(world);
    let asked = 0;
    world.answer = (question) => {
      asked += 1;
      return asked === 1 ? bad(question) : world.time(question);
    };
    await world.feed.clock.ask();
    expect(world.questions).toEqual([
      "https://one.example/v1/edges/fra/clock",
      "https://two.example/v1/edges/fra/clock",
    ]);
    expect(world.feed.clock.health().state).toBe("wrong");
    world.answer = bad;
    world.offMs = 0;
    world.now += 600_000;
    await world.feed.clock.ask();
    expect(world.feed.clock.health().offsetMs).toBe(600_000);
  });
});

describe("a location that cannot ask", () => {
  test.each([600_000, -600_000, 5_100])(
    "and was %d ms off stays wrong, however long nobody answers; only an answer opens it",
    async (offMs) => {
      const world = new World(offMs);
      const { clock } = world.feed;
      await clock.ask();
      for (const refusal of [
        { reason: "unreachable" },
        { reason: "status", status: 429 },
        { reason: "status", status: 404 },
      ] as const) {
        world.answer = async () => refuse(refusal);
        for (let asked = 0; asked < 30; asked += 1) {
          await world.pass(READING_TRUST_MS / 10);
          expect([clock.isWrong, clock.health().state]).toEqual([true, "wrong"]);
        }
        // What is read meanwhile is read by the mint's time, as measured.
        expect(clock.time?.now()).toBe(world.now);
      }
      world.answer = async () => ok({ text: "{}", roundTripMs: 1 });
      world.offMs = 0;
      await world.pass(6_000);
      expect(clock.isWrong).toBe(true);
      world.answer = (question) => world.time(question);
      await world.pass(6_000);
      expect([clock.isWrong, clock.health().state]).toEqual([false, "good"]);
      expect(clock.time?.now()).toBe(world.now);
    },
  );
  test("and was within the tolerance does not know after the stated time, and is not closed by that", async () => {
    const world = new World(4_000);
    const { clock } = world.feed;
    await clock.ask();
    world.answer = async () => refuse({ reason: "unreachable" });
    world.now += READING_TRUST_MS + 200;
    await clock.ask();
    expect([clock.isWrong, clock.health().state]).toEqual([false, "unknown"]);
  });
  test("asks a mint that is older seldom, and says so once; one that is away every 5 s", async () => {
    for (const [status, expected] of [
      [404, 4],
      [500, 20],
    ] as const) {
      const world = new World(0);
      world.answer = async () => refuse({ reason: "status", status });
      while (world.now < START + 100_000) await world.pass(500);
      // Two mints are asked each time.
      expect(Math.abs(world.questions.length / 2 - expected)).toBeLessThanOrEqual(2);
      expect(world.alarms.filter(({ thing }) => thing === "clock")).toHaveLength(2);
      expect(world.feed.clock.isAsked).toBe(true);
    }
  });
});

test("a standby that refuses before the leader answers is nothing to tell", async () => {
  const world = new World(0);
  let asked = 0;
  world.answer = (question) => {
    asked += 1;
    return asked % 2 === 1
      ? Promise.resolve(refuse({ reason: "status", status: 503 }))
      : world.time(question);
  };
  while (world.now < START + 300_000) await world.pass(500);
  expect(world.feed.clock.health().state).toBe("good");
  expect(world.questions.length).toBeGreaterThan(16);
  expect(world.alarms.filter(({ thing }) => thing === "clock")).toEqual([]);
});

test("about twice a minute while all is well, and what was found is reported within 5 s", async () => {
  const world = new World(1_000);
  while (world.now < START + 300_000) await world.pass(500);
  expect(world.questions.length).toBeGreaterThanOrEqual(9);
  expect(world.questions.length).toBeLessThanOrEqual(13);
  expect(world.reports[0]).toMatchObject({ state: "unknown", skewSeconds: 5 });
  expect(world.reports[0]).not.toHaveProperty("estimate");
  expect(world.reports[1]).toMatchObject({ state: "good", keysSeq: 7 });
  const { offsetMs = 0, uncertaintyMs = Infinity } = world.reports[1]?.estimate ?? {};
  expect(Math.abs(offsetMs - 1_000)).toBeLessThanOrEqual(uncertaintyMs);
  expect(uncertaintyMs).toBeLessThan(100);
  expect(new Set(world.reports.map(({ nonce }) => nonce)).size).toBe(world.reports.length);
});

test("a new key set is reported within 5 s of its coming", async () => {
  const world = new World(0);
  while (world.now < START + 60_000) await world.pass(500);
  world.keysSeq = 8;
  const since = world.now;
  while (world.reports.at(-1)?.keysSeq !== 8) await world.pass(500);
  expect(world.now - since).toBeLessThan(CLOCK_ASK_SOON_MS + 1_500);
});

describe("statements tell of a clock that was set", () => {
  const seen = async (world: World): Promise<number> => {
    while (world.now < START + 60_000) await world.pass(500);
    const before = world.questions.length;
    const since = world.now;
    world.offMs = world.offMs === 0 ? 9_000 : -9_000;
    while (world.questions.length === before) await world.pass(500);
    return world.now - since;
  };
  test("ahead: by those that are older than any cache makes them", async () => {
    expect(await seen(new World(0))).toBeLessThan(CLOCK_ASK_SOON_MS + 2_000);
  });
  test("behind: by one that is signed in the future, at once", async () => {
    expect(await seen(new World(100))).toBeLessThan(3_000);
  });
  test("but a mint whose statements are old is not asked more than every 5 s, and calls nobody wrong", async () => {
    const world = new World(0);
    world.staleMs = 300_000;
    while (world.now < START + 100_000) await world.pass(500);
    expect(world.questions.length).toBeLessThanOrEqual(22);
    expect(world.feed.clock.health().state).toBe("good");
  });
});

test.each([-600_000, 600_000, 40 * 86_400_000, -1_700_000_000_000])(
  "%d ms off from the start: manifest and drip are taken all the same, by the mint's time",
  async (offMs) => {
    const world = new World(offMs);
    const now = world.clock.now();
    await Promise.all([
      world.feed.whenKnown("manifest", now),
      world.feed.whenKnown("drip:demo", now),
    ]);
    expect(world.feed.manifest()).toBeDefined();
    expect(world.feed.drip("demo")).toBeDefined();
    expect(world.questions.length).toBeLessThanOrEqual(1);
    expect(world.feed.keys(world.feed.clock.time?.now() ?? now)).toBeDefined();
  },
);

test("a key that it does not know yet is asked for, within the same question", async () => {
  const world = new World(0);
  world.keys = [stranger.publicJwk];
  await world.feed.refresh("keys", world.clock.now());
  world.keys = [stranger.publicJwk, pair.publicJwk];
  world.keysSeq += 1;
  await world.feed.clock.ask();
  expect(world.feed.clock.health().state).toBe("good");
});

describe("one question at a time", () => {
  test("whoever comes meanwhile waits by looking, and asks nothing", async () => {
    const world = new World(0);
    await world.feed.whenKnown("keys", world.clock.now());
    let answer = () => {};
    world.answer = (question) =>
      new Promise((resolve) => {
        answer = () => void world.time(question).then(resolve);
      });
    const asking = world.feed.clock.ask();
    while (world.questions.length === 0) await sleep(0);
    await world.feed.clock.ask();
    expect([world.feed.clock.due(), world.feed.clock.isAsked]).toEqual([false, false]);
    const waiting = world.feed.clock.whenAnswered();
    expect(waiting).toBeDefined();
    answer();
    await waiting;
    expect(world.feed.clock.isAsked).toBe(true);
    await asking;
    expect(world.questions).toHaveLength(1);
    expect(world.feed.clock.whenAnswered()).toBeUndefined();
  });
  test("one that was cancelled with its request keeps nobody from asking", async () => {
    const world = new World(0);
    await world.feed.whenKnown("keys", world.clock.now());
    world.answer = () => new Promise(() => {});
    void world.feed.clock.ask();
    while (world.questions.length === 0) await sleep(0);
    world.now += 2 * MINT_DEADLINE_MS + REFRESH_SLACK_MS;
    expect(world.feed.clock.due()).toBe(true);
    world.answer = (question) => world.time(question);
    await world.feed.clock.ask();
    expect(world.feed.clock.health().state).toBe("good");
  });
  test("one that was given up, and verified after its follower, puts no older measure in place of the newer", async () => {
    const world = new World(0);
    await world.feed.whenKnown("keys", world.clock.now());
    // Its answer came in time, by a key for which it asks, and waits.
    let arrive = () => {};
    world.keysHeld = new Promise((resolve) => (arrive = resolve));
    world.keys = [pair.publicJwk, stranger.publicJwk];
    world.answer = (question) => world.time(question, stranger);
    const first = world.feed.clock.ask();
    while (!world.isHolding) await sleep(0);
    world.now += 2 * MINT_DEADLINE_MS + REFRESH_SLACK_MS;
    world.offMs = 60_000;
    world.answer = (question) => world.time(question);
    await world.feed.clock.ask();
    const measured = { state: "wrong", offsetMs: 60_000 };
    expect(world.feed.clock.health()).toMatchObject(measured);
    arrive();
    await first;
    expect(world.feed.clock.health()).toMatchObject(measured);
    expect(world.feed.clock.isWrong).toBe(true);
  });
});

describe("what bypass rules let through", () => {
  const passes = { event: "demo", rule: 1, count: 3 };
  const taking: (world: World) => Answering = (world) => async (question) => {
    const answer = await world.time(question);
    if (!answer.ok) return answer;
    const body = { ...(JSON.parse(answer.value.text) as object), takes: ["passes", "more"] };
    return ok({ ...answer.value, text: JSON.stringify(body) });
  };
  const said = (world: World) => world.reports.map(({ passes: told }) => told);

  test("is told to a mint that takes it, until it has answered, and once", async () => {
    const world = new World(0);
    world.passed = [passes];
    world.answer = taking(world);
    await world.feed.clock.ask();
    expect(said(world), "nothing is known of this mint yet").toEqual([undefined]);
    world.answer = () => Promise.resolve(refuse({ reason: "timeout" }));
    await world.feed.clock.ask();
    world.answer = taking(world);
    await world.feed.clock.ask();
    await world.feed.clock.ask();
    // The second one asked the mint that takes it, and the one that nothing is known of.
    expect(said(world)).toEqual([undefined, [passes], undefined, [passes], undefined]);
    expect(world.passed).toEqual([]);
  });

  test("is not told to a mint of an older release, nor to one that went back to it", async () => {
    const world = new World(0);
    world.passed = [passes];
    await world.feed.clock.ask();
    await world.feed.clock.ask();
    expect(said(world)).toEqual([undefined, undefined]);
    world.answer = taking(world);
    await world.feed.clock.ask();
    // It went back: it refuses a member that it does not know, and the next question has none.
    world.answer = (question) =>
      world.reports.at(-1)?.passes === undefined
        ? world.time(question)
        : Promise.resolve(refuse({ reason: "status", status: 422 }));
    await world.feed.clock.ask();
    await world.feed.clock.ask();
    expect(said(world).slice(3)).toEqual([[passes], undefined, undefined]);
    expect(world.feed.clock.health().state).toBe("good");
    expect(world.passed).toEqual([passes]);
  });
});

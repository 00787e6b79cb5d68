/**
 * Law 7 with everything that is real but the time and the network. `VESTIBULE_RUNS=5000` checks 1,000,000 signatures
 * instead of 20,000, in some minutes:
 *
 *     VESTIBULE_RUNS=5000 npx -y pnpm@12 test unit apps/mint/test/three-rotations
 */
import {
  ADMISSION_KEY_RETIRING_SECONDS,
  REVOCATION_SECONDS_MAX,
} from "@vestibule/contracts/limits";
import { runRandomness } from "@vestibule/testkit/run-seed";
import { expect, inject, it } from "vitest";
import { RotationScene, type SceneOptions } from "./support/rotation-scene.ts";
import { FAULTS } from "./support/shown-tokens.ts";

const SIGNATURES = Math.max(10_000, inject("runs") * 200);
/** The signatures are spread over so many virtual seconds; the story goes on a little longer. */
const SECONDS = 1_600;
const TIMEOUT_MS = 180_000 + inject("runs") * 400;

/** The mint is down half the time: for a while, and then up for as long. */
class Outage {
  readonly #scene: RotationScene;
  readonly #from: number;
  #turnsAt = 0;
  #stretch = 0;
  downSeconds = 0;
  seconds = 0;

  constructor(scene: RotationScene) {
    this.#scene = scene;
    this.#from = scene.elapsed;
  }

  /** After each second of it. */
  async live(): Promise<void> {
    const scene = this.#scene;
    const passed = scene.elapsed - this.#from - this.seconds;
    this.seconds += passed;
    if (scene.isMintDown) this.downSeconds += passed;
    if (scene.elapsed < this.#turnsAt) return;
    if (scene.isMintDown) await scene.comeUp();
    else {
      this.#stretch = scene.random.integer({ min: 4, max: 40 });
      scene.goDown();
    }
    this.#turnsAt = scene.elapsed + this.#stretch;
  }

  async end(): Promise<void> {
    if (this.#scene.isMintDown) await this.#scene.comeUp();
  }
}

/**
 * Three rotations, each as early as it is allowed by then, the second while the mint is down half the time; a revocation; and
 * then until the keys before have retired, one of them while no location reaches a mint.
 */
async function wholeStory(scene: RotationScene): Promise<Outage> {
  const spread = async () => {
    const left = Math.max(20, SECONDS - scene.elapsed);
    await scene.second(Math.ceil((SIGNATURES - scene.counts.signatures) / left));
  };
  const until = async (isDone: () => boolean | Promise<boolean>, outage?: Outage) => {
    for (;;) {
      await spread();
      await outage?.live();
      if (!scene.isMintDown && (await isDone())) return;
    }
  };
  const rotated = () => scene.rotate();
  await until(() => scene.elapsed > 120);
  await until(rotated);
  const outage = new Outage(scene);
  await until(rotated, outage);
  const secondRetires = scene.elapsed + ADMISSION_KEY_RETIRING_SECONDS;
  const calm = scene.elapsed + 60;
  await until(() => scene.elapsed > calm, outage);
  await outage.end();
  await until(rotated);
  const thirdRetires = scene.elapsed + ADMISSION_KEY_RETIRING_SECONDS;
  await until(() => scene.hasSuccessor);
  await scene.command({ do: "revoke", kid: scene.world.ring.signing.admission.kid });
  // An overlap ends by every location's own clock, when no mint tells it so.
  await until(() => scene.elapsed > secondRetires - 20);
  scene.isCutOff = true;
  await until(() => scene.elapsed > secondRetires + 150);
  scene.isCutOff = false;
  await until(() => scene.elapsed > thirdRetires + 60 && scene.counts.signatures >= SIGNATURES);
  return outage;
}

it(
  `law 7: of ${SIGNATURES.toLocaleString("en")} signatures through three rotations no valid token is refused and no other accepted`,
  { timeout: TIMEOUT_MS },
  async () => {
    const scene = await RotationScene.start(runRandomness());
    const startedAt = performance.now();
    const outage = await wholeStory(scene);
    const { counts, faultsShown } = scene;
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    console.log(
      `three rotations: seed ${scene.random.seed}, ${scene.isolates.length} isolates, ${scene.elapsed.toFixed(0)} virtual ` +
        `seconds in ${seconds} s, mint down ${outage.downSeconds.toFixed(0)} of ${outage.seconds.toFixed(0)} s: ` +
        JSON.stringify({ ...counts, ...Object.fromEntries(faultsShown) }),
    );
    const { refusedValid, acceptedInvalid } = counts;
    expect({ refusedValid, acceptedInvalid, wrong: scene.wrong }).toEqual({
      ...{ refusedValid: 0, acceptedInvalid: 0, wrong: [] },
    });
    expect(counts.signatures).toBeGreaterThanOrEqual(SIGNATURES);
    // Not true because little was tried.
    expect(FAULTS.filter((fault) => !faultsShown.has(fault))).toEqual([]);
    expect(counts.undecided).toBeLessThan(counts.verifications / 10);
    expect(counts.valid).toBeGreaterThan(counts.verifications / 5);
    expect(outage.downSeconds / outage.seconds).toBeGreaterThan(0.4);
    const states = scene.world.keeper.stored.keys.map(({ state }) => state);
    expect(states.filter((state) => state === "retired")).toHaveLength(3);
  },
);

it("a revoked key is refused everywhere within the stated time, however warm a location is", async () => {
  const scene = await RotationScene.start(runRandomness(1));
  for (let second = 0; second < 40; second += 1) await scene.second(20);
  const token = scene.genuine.find(({ nbf }) => nbf < scene.now / 1_000 - 1)!;
  const { isolates } = scene;
  const accepting = async () => {
    const verdicts = await Promise.all(isolates.map((isolate) => isolate.check(token, scene.now)));
    return verdicts.filter(({ accepted }) => accepted).length;
  };
  const before = await accepting();
  expect(before).toBe(isolates.length);
  await scene.command({ do: "revoke", kid: token.kid });
  let busySeen = 0;
  for (let second = 1; second <= REVOCATION_SECONDS_MAX; second += 1) {
    await scene.second();
    for (const isolate of isolates)
      if (isolate.everyMs === 1_000 && (await isolate.check(token, scene.now)).accepted)
        busySeen = second;
  }
  // Who is asked every second hears of it with the next drip; who was left alone asks before it decides.
  expect(busySeen).toBeLessThanOrEqual(3);
  await Promise.all(isolates.map((isolate) => isolate.visit(scene.now)));
  expect(await accepting()).toBe(0);
  await scene.second();
  const fresh = scene.genuine.at(-1)!;
  for (const isolate of isolates) await scene.judge(isolate, { ...fresh });
  expect(scene.counts).toMatchObject({ refusedValid: 0, acceptedInvalid: 0 });
});

/** By chance a scene shows nothing: every location may have fetched the set for another reason. */
const CANARY_SCENES_MAX = 8;

it.each<
  [
    string,
    SceneOptions,
    (scene: RotationScene) => Promise<unknown>,
    "refusedValid" | "acceptedInvalid",
  ]
>([
  [
    "a key signs ten seconds after it was staged, and no statement tells of it",
    { deaf: true },
    async (scene) => {
      await scene.command({ do: "stage", use: "admission" });
      for (let second = 0; second < 10; second += 1) await scene.second();
      const kid = scene.staged("admission", "newest");
      await scene.command({ do: "promote", kid, force: true });
    },
    "refusedValid",
  ],
  [
    "a key signs at once, while no location reaches a mint",
    {},
    async (scene) => {
      await scene.command({ do: "stage", use: "admission" });
      scene.isCutOff = true;
      const kid = scene.staged("admission", "newest");
      await scene.command({ do: "promote", kid, force: true });
    },
    "refusedValid",
  ],
  [
    "a key is taken out of the set before what it signed is over",
    {},
    async (scene) => {
      const { kid } = scene.world.ring.signing.admission;
      const promote = { do: "promote", kid: scene.staged("admission"), force: true } as const;
      await scene.command(promote);
      await scene.command({ do: "retire", kid, force: true });
    },
    "refusedValid",
  ],
  [
    "a key is revoked, and locations do not listen to what statements say of the key set",
    { deaf: true },
    async (scene) => {
      await scene.command({ do: "revoke", kid: scene.world.ring.signing.admission.kid });
      for (let second = 0; second <= REVOCATION_SECONDS_MAX; second += 1) await scene.second();
    },
    "acceptedInvalid",
  ],
])("canary: a scene sees it when %s", async (_what, options, go, fault) => {
  for (let scenes = 1; scenes <= CANARY_SCENES_MAX; scenes += 1) {
    const scene = await RotationScene.start(runRandomness(scenes), options);
    for (let second = 0; second < 45; second += 1) await scene.second();
    await go(scene);
    for (let second = 0; second < 15; second += 1) await scene.second(60);
    if (scene.counts[fault] > 0) return;
  }
  expect.unreachable(`${CANARY_SCENES_MAX} scenes did not see it`);
});

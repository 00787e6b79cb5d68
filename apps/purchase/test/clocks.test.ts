/** Design section 10 at the purchase API: by a clock that is surely wrong nobody buys, and nothing else changes. */
import { watchClock } from "@vestibule/feed/clock-watch";
import { sleep } from "@vestibule/feed/fetch-text.system";
import { createMintFeed } from "@vestibule/feed/mint-feed";
import type { FetchText } from "@vestibule/feed/ports";
import type { AppError } from "@vestibule/kernel/app-error";
import { ok, refuse } from "@vestibule/kernel/result";
import { type EpochMs, addMs, ticketNumber, toSeconds } from "@vestibule/kernel/units";
import { FakeClock } from "@vestibule/testkit/fake-clock";
import { runRandomness } from "@vestibule/testkit/run-seed";
import { signAdmission, signManifest, signTime } from "@vestibule/token/sign";
import { hashVisitor } from "@vestibule/token/visitor";
import { expect, test } from "vitest";
import { FEED_TICK_MS } from "../src/limits.ts";
import { createMintKnowledge } from "../src/mint-knowledge.ts";
import { atTheDoor, codeOf } from "./door.ts";
import { EVENT, eventOf, ISSUER, newSigningKey } from "./purchase-world.ts";

const VISITOR = "dmlzaXRvci1zZWNyZXQtb2YtMzItYnl0ZXMtaGVyZSE";
/** The longest until a clock that was set is noticed, or is right again, with its ticks. */
const CALM_MS_MAX = 34_000;
const SOON_MS_MAX = 6_000;

/** An instance whose clock is `offMs` off, and a mint that is right; `answers: false`: it knows no such question. */
async function instance(offMs: number, { answers = true } = {}) {
  const mints = new FakeClock();
  let off = offMs;
  const clock = { now: (): EpochMs => addMs(mints.now(), off) };
  const { signingKey, publicJwk } = await newSigningKey();
  const fetchText: FetchText = async ({ url, body }) => {
    const said = (text: string) => ok({ text, roundTripMs: 0 });
    if (url.includes("/jwks.json")) return said(JSON.stringify({ keys: [publicJwk] }));
    if (body !== undefined) {
      if (!answers) return refuse({ reason: "status", status: 404 });
      expect(url).toBe("https://mint.test/v1/edges/purchase/clock");
      const { nonce } = JSON.parse(body) as { nonce: string };
      const time = await signTime(signingKey, { issuer: ISSUER, nonce, at: mints.now() });
      return said(JSON.stringify({ time }));
    }
    if (!url.endsWith("/manifest")) return refuse({ reason: "status", status: 404 });
    const iat = toSeconds(mints.now());
    const claims = { iss: ISSUER, iat, exp: iat + 3_600, seq: mints.now() };
    return said(await signManifest(signingKey, { ...claims, events: [eventOf(EVENT)] }));
  };
  const feed = createMintFeed({
    ...{ mintUrls: ["https://mint.test"], issuer: ISSUER, skewSeconds: 5, sleep, fetchText },
    watch: watchClock({ clock, randomness: runRandomness(), location: "purchase" }),
  });
  const mint = createMintKnowledge(feed);

  /** @throws AppError for somebody in the middle of their slot. */
  const tryBuying = async (): Promise<string> => {
    const admission = await signAdmission(signingKey, {
      ...{ issuer: ISSUER, event: EVENT, sub: hashVisitor(VISITOR), action: "purchase" },
      ...{ number: ticketNumber(7), iat: toSeconds(mints.now()), lifetimeSeconds: 600 },
      opensAt: addMs(mints.now(), -300_000),
    });
    return atTheDoor({ admission, visitor: VISITOR, now: clock.now() }, { mint });
  };
  /** `"good"`, or the code of the refusal. */
  const buy = (): Promise<string> => codeOf(tryBuying());
  /** Its timer ticks; @returns how long it took until a purchase is answered so. */
  const until = async (wanted: string, msMax: number): Promise<number> => {
    const since = mints.now();
    while ((await buy()) !== wanted) {
      mints.advance(FEED_TICK_MS);
      mint.tick(clock.now());
      await sleep(0);
      if (mints.now() - since > msMax) throw new Error(`not ${wanted} within ${msMax} ms`);
    }
    return mints.now() - since;
  };
  return { buy, tryBuying, until, mint, set: (ms: number) => (off = ms) };
}

test.each([-600, -66, -6, -4, -2.6, 0, 2.6, 4, 6, 66, 600])(
  "%d s off from the start: who is in the middle of their slot buys when that is within 5 s, and hears clock-wrong when not",
  async (seconds) => {
    const { buy, mint } = await instance(seconds * 1_000);
    const isWrong = Math.abs(seconds) > 5;
    const first = await Promise.all(Array.from({ length: 10 }, () => buy()));
    expect(new Set(first)).toEqual(new Set([isWrong ? "clock-wrong" : "good"]));
    expect(mint.isClockWrong()).toBe(isWrong);
  },
);

test("whoever asks again, since an answer was lost, is not told that nothing was bought", async () => {
  const { tryBuying } = await instance(600_000);
  const refused = await tryBuying().catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: "clock-wrong" });
  const { detail } = refused as AppError;
  expect(detail).toContain("the same Idempotency-Key");
  expect(detail).not.toMatch(/nothing was bought/i);
});

test.each([-120, 120])(
  "%d s at once: noticed by itself, and well again when it is set right",
  async (seconds) => {
    const { until, set } = await instance(0);
    expect(await until("good", 0)).toBe(0);
    for (let round = 0; round < 3; round += 1) {
      set(seconds * 1_000);
      expect(await until("clock-wrong", CALM_MS_MAX)).toBeLessThanOrEqual(CALM_MS_MAX);
      set(0);
      expect(await until("good", SOON_MS_MAX)).toBeLessThanOrEqual(SOON_MS_MAX);
    }
  },
);

test("a mint that is older cannot be asked: the own clock is believed", async () => {
  const { buy, mint } = await instance(120_000, { answers: false });
  expect([await buy(), mint.isClockWrong()]).toEqual(["good", false]);
});

import { SKEW_SECONDS_DEFAULT } from "@vestibule/contracts/limits";
import { epochMs } from "@vestibule/kernel/units";
import { refuseByTime } from "@vestibule/token/claims";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KeyHistory } from "../src/drill/key-history.ts";
import { phaseOf } from "../src/drill/tally.ts";
import { MINT_URL } from "./support/fake-mint.ts";
import { World } from "./support/fake-platform.ts";

describe("what a drill asks of a verifier", () => {
  it("is only what the rules say for every clock within the tolerance, also when the mint's is estimated a second wrong", () => {
    const skewMs = SKEW_SECONDS_DEFAULT * 1_000;
    fc.assert(
      fc.property(
        fc.record({
          nbf: fc.integer({ min: 1_000, max: 1_100 }),
          lifetime: fc.integer({ min: 10, max: 60 }),
          signedAfter: fc.integer({ min: -10, max: 10 }),
          nowMs: fc.integer({ min: 980_000, max: 1_200_000 }),
          aheadMsMin: fc.integer({ min: -skewMs, max: skewMs }),
          spreadMs: fc.integer({ min: 0, max: 2 * skewMs }),
          estimateMs: fc.integer({ min: -1_000, max: 1_000 }),
          share: fc.double({ min: 0, max: 1, noNaN: true }),
        }),
        ({ nbf, lifetime, signedAfter, nowMs, aheadMsMin, spreadMs, estimateMs, share }) => {
          const facts = { kid: "k", nbf, iat: nbf + signedAfter, exp: nbf + lifetime };
          const aheadMsMax = Math.min(skewMs, aheadMsMin + spreadMs);
          const clock = { aheadMsMin, aheadMsMax, skewMs };
          const phase = phaseOf(facts, clock, nowMs + estimateMs);
          const ahead = Math.round(aheadMsMin + (aheadMsMax - aheadMsMin) * share);
          const now = epochMs(nowMs + ahead);
          const refusal = refuseByTime(facts as never, {
            now,
            skewSeconds: SKEW_SECONDS_DEFAULT,
          })?.reason;
          if (phase === "good") expect(refusal).toBeUndefined();
          if (phase === "over") expect(refusal).toBe("over");
        },
      ),
    );
  });
});

describe("a copy of the key set", () => {
  it("is the one of its time, also of before the drill: no later key, no later end, and never none", async () => {
    const world = await World.start();
    const { mint, clock } = world;
    const first = clock.now();
    clock.advance(300_000);
    const [old, next] = [mint.key("admission", "signing"), mint.key("admission", "staged")];
    const rotatedAt = clock.now();
    await world.run(["keys", "rotate", "--yes"]);
    const later = mint.key("admission", "staged");
    clock.advance(100_000);
    const { json: view } = await world.run(["keys", "list", "--json"]);
    const jwks = async () => (await mint.send({ url: `${MINT_URL}/.well-known/jwks.json` })).text;
    const history = await KeyHistory.begin(await jwks(), view, clock.now());

    const before = await history?.at(rotatedAt - 1);
    expect([...(before?.keys() ?? [])]).toEqual(expect.arrayContaining([old, next]));
    expect(before?.has(later)).toBe(false);
    expect(before?.get(old)?.until).toBeUndefined();
    expect(await history?.at(first - 1_000_000)).toEqual(await history?.at(first));
    const now = await history?.at(clock.now());
    expect(now?.has(later)).toBe(true);
    expect(now?.get(old)?.until).toBeDefined();

    const seen = clock.now();
    clock.advance(1_000);
    await history?.note("rubbish", clock.now());
    await mint.send({ url: `${MINT_URL}/x` });
    await world.run(["keys", "revoke", later, "--yes"]);
    await history?.note(await jwks(), clock.now());
    expect((await history?.at(seen))?.has(later)).toBe(true);
    expect((await history?.at(clock.now()))?.has(later)).toBe(false);
  });
});

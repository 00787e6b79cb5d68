/** Law 7 for tokens of services: whenever the key that signed one retires, it verifies for as long as the token lives. */
import { KEYS_PROPAGATION_SECONDS, SERVICE_TOKEN_SLACK_SECONDS } from "@vestibule/contracts/limits";
import { epochMs, epochSeconds } from "@vestibule/kernel/units";
import { safeFrom } from "@vestibule/keys/rotation";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type KeyFacts, policies, signedUntil } from "../src/keys/key-policy.ts";

const CREATED = 1_767_225_600_000;
const WEEK_MS = 7 * 86_400_000;
const { line: policy } = policies(null);
const key = { use: "line", publicJwk: { vst_use: "line" } } as Parameters<typeof signedUntil>[0];

/** How much longer the key is published than anybody owes the token an answer, at worst; ms. */
function spareMs({ lastsMs, retiresMs, signedMs }: Record<string, number>, slack: number): number {
  const [endsAt, since] = [CREATED + lastsMs!, epochMs(CREATED + retiresMs!)];
  // As late as can be: a mint that has not heard yet signs on, and the last second of the event.
  const latest = Math.min(since + KEYS_PROPAGATION_SECONDS * 1_000, endsAt - 1);
  const iat = epochMs(Math.max(CREATED, latest - signedMs!));
  const exp = Math.floor(endsAt / 1_000) + slack;
  expect(exp * 1_000).toBeGreaterThan(iat);
  const facts: KeyFacts = {
    ...{ admissionLifeSeconds: 0, frozenBy: [] },
    lines: endsAt > since ? [{ createdAt: epochMs(CREATED), endsAt }] : [],
  };
  const until = safeFrom(
    {
      ...{ kid: "k", state: "retiring", since, firstSeq: 1 },
      signedUntil: epochSeconds(signedUntil(key, since, facts)),
    },
    { policy },
  );
  // Both sides' tolerance (ADR 9).
  return until - (exp + 2 * policy.skewSeconds) * 1_000;
}

const moments = fc.record({
  lastsMs: fc.integer({ min: 1_000, max: WEEK_MS }),
  retiresMs: fc.integer({ min: 0, max: WEEK_MS }),
  signedMs: fc.oneof(fc.constant(0), fc.nat(WEEK_MS)),
});
/** The key retires at the event's last moment, or just after it, when the event is no more among those that go on. */
const atTheEnd = fc
  .tuple(fc.integer({ min: 1_000, max: WEEK_MS }), fc.integer({ min: -2_000, max: 2_000 }))
  .map(([lastsMs, offMs]) => ({ lastsMs, retiresMs: Math.max(0, lastsMs + offMs), signedMs: 0 }));

test("law 7: whenever its key retires, before the event's end, at it or after it, no token outlives it", () => {
  fc.assert(
    fc.property(fc.oneof(moments, atTheEnd), (when) => {
      expect(spareMs(when, SERVICE_TOKEN_SLACK_SECONDS)).toBeGreaterThanOrEqual(0);
    }),
    { numRuns: 2_000 },
  );
});

test("canary: with a quarter of an hour more some would", () => {
  const spare = fc
    .sample(atTheEnd, 500)
    .map((when) => spareMs(when, SERVICE_TOKEN_SLACK_SECONDS + 900));
  expect(Math.min(...spare)).toBeLessThan(0);
});

import {
  type KeyRecord,
  type RotationPolicy,
  apply,
  assertPolicy,
  check,
  plan,
  publishedKeys,
  retiringSecondsMin,
  safeFrom,
  signingKey,
  stagedSecondsMin,
} from "@vestibule/keys/rotation";
import { AssertionError } from "@vestibule/kernel/assert";
import { type EpochMs, addMs, epochMs, epochSeconds } from "@vestibule/kernel/units";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const START = epochMs(1_767_225_600_000);
const policy: RotationPolicy = {
  jwksCacheSeconds: 60,
  skewSeconds: 5,
  propagationSeconds: 5,
  tokenLifeSecondsMax: 660,
  signForSeconds: 86_400,
  stagedSeconds: 70,
  retiringSeconds: 675,
  keysMax: 16,
};

/** Does all that is due, as the mint's loop does. `made` names the keys. */
function step(keys: readonly KeyRecord[], now: EpochMs, made: () => string, by = policy) {
  return plan(keys, now, by).reduce(
    (records, action) =>
      apply(records, action, action.do === "stage" ? { now, newKid: made() } : { now }),
    keys,
  );
}

function namer(): () => string {
  let made = 0;
  return () => `key-${(made += 1)}`;
}

const seconds = (at: EpochMs, by: number) => addMs(at, by * 1000);
const states = (keys: readonly KeyRecord[]) =>
  Object.fromEntries(keys.map(({ kid, state }) => [kid, state]));

describe("the policy", () => {
  test("the smallest allowed times are the sums that design section 9 states", () => {
    expect(stagedSecondsMin(policy)).toBe(70);
    // Propagation, life, and the skew of both sides.
    expect(retiringSecondsMin(policy)).toBe(5 + 660 + 5 + 5);
    expect(() => assertPolicy(policy)).not.toThrow();
  });

  test.each<[string, Partial<RotationPolicy>]>([
    ["staged for less than cache, skew and propagation", { stagedSeconds: 69 }],
    [
      "cached for a day, signing after two hours",
      { jwksCacheSeconds: 86_400, stagedSeconds: 7_200 },
    ],
    ["retiring for less than the longest life and both skews", { retiringSeconds: 674 }],
    ["too few places for an overlap", { keysMax: 3 }],
    ["signing for less than the next is staged", { signForSeconds: 69 }],
    ["NaN", { retiringSeconds: Number.NaN }],
    ["infinite", { stagedSeconds: Number.POSITIVE_INFINITY }],
    ["negative", { skewSeconds: -1 }],
    ["fractional", { propagationSeconds: 4.5 }],
  ])("one that contradicts itself is refused: %s", (_name, change) => {
    expect(() => assertPolicy({ ...policy, ...change })).toThrow(AssertionError);
    expect(() => plan([], START, { ...policy, ...change })).toThrow(AssertionError);
  });
});

describe("the plan", () => {
  test("a fresh store gets a key that signs at once, and a successor", () => {
    expect(plan([], START, policy)).toEqual([
      { do: "stage", signAtOnce: true },
      { do: "stage", signAtOnce: false },
    ]);
    const keys = step([], START, namer());
    expect(states(keys)).toEqual({ "key-1": "signing", "key-2": "staged" });
    expect(plan(keys, seconds(START, 86_399), policy)).toEqual([]);
  });

  test("a key signs for as long as the policy says, then its successor does", () => {
    const made = namer();
    let keys = step([], START, made);
    keys = step(keys, seconds(START, 86_400), made);
    expect(states(keys)).toEqual({ "key-1": "retiring", "key-2": "signing", "key-3": "staged" });
  });

  test("without a signing time keys move only when somebody asks", () => {
    const manual = { ...policy, signForSeconds: null };
    const keys = step([], START, namer(), manual);
    expect(plan(keys, seconds(START, 10 ** 8), manual)).toEqual([]);
    const asked = check(keys, { do: "promote", kid: "key-2" }, seconds(START, 70), manual);
    expect(asked).toEqual({
      ok: true,
      value: { do: "promote", kid: "key-2", replaces: "key-1" },
    });
  });

  test("KR-08: a successor that was staged late does not sign before every copy of the set holds it", () => {
    const late: readonly KeyRecord[] = [
      { kid: "a", state: "signing", since: START },
      { kid: "b", state: "staged", since: seconds(START, 86_390) },
    ];
    expect(plan(late, seconds(START, 86_459), policy)).toEqual([]);
    expect(plan(late, seconds(START, 86_460), policy)[0]).toEqual({
      do: "promote",
      kid: "b",
      replaces: "a",
    });
  });

  test("a successor that is in every set with the signing key is safe at once, and no other, whatever a clock says", () => {
    const signing: KeyRecord = { kid: "a", state: "signing", since: START, firstSeq: 7 };
    const staged = (firstSeq?: number): KeyRecord => ({
      ...{ kid: "b", state: "staged", since: seconds(START, -1) },
      ...(firstSeq === undefined ? {} : { firstSeq }),
    });
    const { firstSeq: _unknown, ...older } = signing;
    const asked = (...keys: KeyRecord[]) =>
      check(keys, { do: "promote", kid: "b" }, START, policy).ok;
    expect(asked(signing, staged(7))).toBe(true);
    expect(asked(signing, staged(6))).toBe(true);
    expect(asked(signing, staged(8))).toBe(false);
    // Keys from before sets had numbers wait, and so does one of which no set is known.
    expect(asked(signing, staged())).toBe(false);
    expect(asked(older, staged(7))).toBe(false);
    expect(asked({ ...signing, state: "retiring" }, staged(7))).toBe(false);
    // By schedule it waits for its turn all the same.
    expect(plan([signing, staged(7)], seconds(START, 86_399), policy)).toEqual([]);
  });

  test("when the signing key is revoked the successor signs at once, however young", () => {
    const made = namer();
    let keys = step([], START, made);
    keys = apply(keys, { do: "revoke", kid: "key-1" }, { now: START });
    keys = step(keys, START, made);
    expect(states(keys)).toEqual({ "key-1": "revoked", "key-2": "signing", "key-3": "staged" });
    expect(publishedKeys(keys, START, policy).map(({ kid }) => kid)).toEqual(["key-2", "key-3"]);
  });

  describe("settings changed: the staged key is outdated, and", () => {
    const manual = { ...policy, signForSeconds: null };
    const outdated: readonly KeyRecord[] = [
      { kid: "a", state: "signing", since: START },
      { kid: "b", state: "staged", since: START, isOutdated: true },
    ];
    const changed = seconds(START, 1_000);

    test("it goes when one of its own settings' is known everywhere, and no earlier", () => {
      const made = namer();
      let keys = step(outdated, changed, made, manual);
      expect(states(keys)).toEqual({ a: "signing", b: "staged", "key-1": "staged" });
      keys = step(keys, seconds(changed, 69), made, manual);
      expect(states(keys)).toEqual({ a: "signing", b: "staged", "key-1": "staged" });
      keys = step(keys, seconds(changed, 70), made, manual);
      expect(states(keys)).toEqual({ a: "signing", b: "revoked", "key-1": "staged" });
      expect(plan(keys, seconds(changed, 71), manual)).toEqual([]);
    });

    test("a signing key that is revoked meanwhile is followed by the one that is known", () => {
      const made = namer();
      let keys = step(outdated, changed, made, manual);
      keys = apply(keys, { do: "revoke", kid: "a" }, { now: changed });
      keys = step(keys, changed, made, manual);
      expect(states(keys)).toEqual({ a: "revoked", b: "signing", "key-1": "staged" });
    });

    test("a schedule that is due waits for its own settings' key", () => {
      const made = namer();
      const due = seconds(START, 86_400);
      let keys = step(outdated, due, made);
      expect(states(keys)).toEqual({ a: "signing", b: "staged", "key-1": "staged" });
      keys = step(keys, seconds(due, 70), made);
      expect(keys.map(({ state }) => state)).toEqual(["retiring", "revoked", "signing", "staged"]);
    });

    test("settings that change back make no further key, and cost none", () => {
      const made = namer();
      const there = step(outdated, changed, made, manual);
      const back = there.map((key) => ({ ...key, isOutdated: key.kid === "key-1" }));
      const keys = step(back, seconds(changed, 1), made, manual);
      expect(states(keys)).toEqual({ a: "signing", b: "staged", "key-1": "revoked" });
    });

    test("in a set without room it may still take over", () => {
      const full = Array.from({ length: 13 }, (_, index): KeyRecord => {
        return { kid: `old-${index}`, state: "retiring", since: seconds(START, 86_399) };
      });
      const keys = [...outdated, ...full];
      const [first] = plan(keys, seconds(START, 86_400), policy);
      expect(first).toEqual({ do: "promote", kid: "b", replaces: "a" });
    });
  });

  test("doing what the plan says leaves nothing to do", () => {
    const made = namer();
    let keys: readonly KeyRecord[] = [];
    for (let hour = 0; hour < 200; hour += 1) {
      const now = seconds(START, hour * 3_600);
      keys = step(keys, now, made);
      expect(plan(keys, now, policy)).toEqual([]);
    }
  });

  test("however often keys are replaced, the set stays within its bound", () => {
    const made = namer();
    let keys = step([], START, made);
    for (let turn = 1; turn < 60; turn += 1) {
      const now = seconds(START, turn * 70);
      const staged = keys.find(({ state }) => state === "staged");
      const asked = staged && check(keys, { do: "promote", kid: staged.kid }, now, policy);
      if (asked?.ok) keys = apply(keys, asked.value, { now });
      keys = step(keys, now, made);
      expect(publishedKeys(keys, now, policy).length).toBeLessThan(16);
      expect(signingKey(keys)).toBeDefined();
    }
  });
});

describe("a step that is asked for", () => {
  const keys: readonly KeyRecord[] = [
    { kid: "old", state: "retiring", since: START },
    { kid: "now", state: "signing", since: START },
    { kid: "next", state: "staged", since: START },
    { kid: "gone", state: "retired", since: START },
  ];

  test.each<["promote" | "retire", string, number]>([
    ["promote", "next", 70],
    ["retire", "old", 675],
  ])("to %s %s is refused until it is safe, with the time from which it is", (act, kid, after) => {
    const safe = seconds(START, after);
    expect(check(keys, { do: act, kid }, addMs(safe, -1), policy)).toEqual({
      ok: false,
      refusal: { reason: "not-yet-safe", safeFrom: safe },
    });
    expect(check(keys, { do: act, kid }, safe, policy).ok).toBe(true);
  });

  test.each([
    ["promote", "old", "retiring"],
    ["promote", "now", "signing"],
    ["promote", "gone", "retired"],
    ["retire", "now", "signing"],
    ["retire", "next", "staged"],
    ["retire", "gone", "retired"],
  ] as const)("to %s %s, which is %s: is refused", (act, kid, state) => {
    expect(check(keys, { do: act, kid }, seconds(START, 10 ** 7), policy)).toEqual({
      ok: false,
      refusal: { reason: "wrong-state", state },
    });
  });

  test("on a key that is not there is refused", () => {
    expect(check(keys, { do: "revoke", kid: "?" }, START, policy)).toEqual({
      ok: false,
      refusal: { reason: "unknown-key" },
    });
  });

  test("to revoke is safe at any time, in any state", () => {
    for (const { kid } of keys)
      expect(check(keys, { do: "revoke", kid }, START, policy)).toEqual({
        ok: true,
        value: { do: "revoke", kid },
      });
  });

  test("a key that is known to have signed for longer retires later, whatever the policy says now", () => {
    const until = epochSeconds(START / 1000 + 9_000);
    const key: KeyRecord = { kid: "old", state: "retiring", since: START, signedUntil: until };
    expect(safeFrom(key, { policy })).toBe(seconds(START, 9_010));
  });
});

describe("a step that is forced", () => {
  const keys: readonly KeyRecord[] = [
    { kid: "old", state: "retiring", since: START },
    { kid: "now", state: "signing", since: START },
    { kid: "next", state: "staged", since: START },
  ];

  test("happens before it is safe", () => {
    for (const [act, kid] of [
      ["promote", "next"],
      ["retire", "old"],
    ] as const)
      expect(check(keys, { do: act, kid, force: true }, START, policy).ok).toBe(true);
  });

  test("never happens in a state that has no such step", () => {
    for (const [act, kid] of [
      ["promote", "old"],
      ["promote", "now"],
      ["retire", "now"],
      ["retire", "next"],
    ] as const)
      expect(check(keys, { do: act, kid, force: true }, START, policy).ok).toBe(false);
  });
});

describe("while a key of another use stands in", () => {
  test("the first key of a use is staged, and signs only when every location has it", () => {
    const staged = plan([], START, policy, true);
    expect(staged).toEqual([{ do: "stage", signAtOnce: false }]);
    const keys = apply([], staged[0]!, { now: START, newKid: "a" });
    expect(plan(keys, seconds(START, 69), policy, true)).toEqual([]);
    expect(plan(keys, seconds(START, 70), policy, true)[0]).toEqual({
      do: "promote",
      kid: "a",
      replaces: undefined,
    });
    // Nothing stands in any more: not signing would stop everybody.
    expect(plan(keys, START, policy)[0]).toMatchObject({ do: "promote", kid: "a" });
  });
});

test("KR-07: an overlap ends by the clock, also when nobody ever runs the plan again", () => {
  const keys: readonly KeyRecord[] = [
    { kid: "old", state: "retiring", since: START },
    { kid: "now", state: "signing", since: START },
  ];
  const end = seconds(START, 675);
  expect(publishedKeys(keys, addMs(end, -1), policy)).toEqual([
    { kid: "old", exp: end / 1000 - 5 },
    { kid: "now" },
  ]);
  expect(publishedKeys(keys, end, policy)).toEqual([{ kid: "now" }]);
});

interface World {
  readonly locations: readonly { fetchEvery: number; phase: number; clockOff: number }[];
  readonly lives: readonly number[];
  readonly ticks: readonly number[];
}

const small: RotationPolicy = {
  jwksCacheSeconds: 6,
  skewSeconds: 2,
  propagationSeconds: 1,
  tokenLifeSecondsMax: 12,
  signForSeconds: 9,
  stagedSeconds: 9,
  retiringSeconds: 17,
  keysMax: 16,
};

/** Rotates for 80 seconds, signs a token in each, and names the first valid one that a location has no key for. */
function refusedIn({ locations, lives, ticks }: World): string | undefined {
  const made = namer();
  let keys: readonly KeyRecord[] = [];
  let rotations = 0;
  const tokens: { kid: string; exp: number }[] = [];
  const copies = locations.map((): ReturnType<typeof publishedKeys> => []);
  let nextStep = 0;
  for (let second = 0; second < 80; second += 1) {
    const now = seconds(START, second);
    if (second >= nextStep) {
      const before = signingKey(keys)?.kid;
      keys = step(keys, now, made, small);
      if (before !== signingKey(keys)?.kid) rotations += 1;
      nextStep = second + ticks[second % ticks.length]!;
    }
    tokens.push({ kid: signingKey(keys)!.kid, exp: second + lives[second % lives.length]! });
    for (const [index, { fetchEvery, phase, clockOff }] of locations.entries()) {
      if (second === 0 || second % fetchEvery === phase % fetchEvery)
        copies[index] = publishedKeys(keys, now, small);
      const clock = second + clockOff;
      for (const { kid, exp } of tokens) {
        // Over by the clock of the location, which may be behind.
        if (clock >= exp + small.skewSeconds) continue;
        const key = copies[index]!.find((candidate) => candidate.kid === kid);
        if (key === undefined || clock >= (key.exp ?? Infinity) - START / 1000)
          return `${kid} at second ${second}`;
      }
    }
  }
  expect(rotations).toBeGreaterThan(2);
  return undefined;
}

test("law 7: while keys rotate on plan, no location lacks the key of a valid token", () => {
  const location = fc.record({
    fetchEvery: fc.integer({ min: 1, max: 6 }),
    phase: fc.integer({ min: 0, max: 5 }),
    clockOff: fc.integer({ min: -2, max: 2 }),
  });
  const world = fc.record({
    locations: fc.array(location, { minLength: 1, maxLength: 4 }),
    lives: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 5 }),
    ticks: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 20, maxLength: 60 }),
  });
  fc.assert(fc.property(world, (drawn) => refusedIn(drawn) === undefined));
});

test.each<[string, Partial<World>]>([
  [
    "keeps its copy for longer than allowed",
    { locations: [{ fetchEvery: 20, phase: 0, clockOff: 0 }] },
  ],
  ["meets tokens of more than the longest life", { lives: [30] }],
])("the world of law 7 sees a refusal when a location %s", (_name, broken) => {
  const world = { locations: [{ fetchEvery: 1, phase: 0, clockOff: 0 }], lives: [12], ticks: [1] };
  expect(refusedIn(world)).toBeUndefined();
  expect(refusedIn({ ...world, ...broken })).toBeDefined();
});

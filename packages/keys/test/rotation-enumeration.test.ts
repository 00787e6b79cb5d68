/**
 * Every reachable state of up to three keys, under every command, at every second and with every clock within the
 * tolerance: breadth first, on a policy of few seconds. Ages that make no difference any more are one.
 */
import {
  type KeyRecord,
  type RotationPolicy,
  type RotationRequest,
  apply,
  check,
  plan,
  publishedKeys,
  retiringSecondsMin,
  safeFrom,
  signingKey,
  stagedSecondsMin,
} from "@vestibule/keys/rotation";
import { epochMs } from "@vestibule/kernel/units";
import { expect, test } from "vitest";

const NOW_SECOND = 1_000;
const NOW = epochMs(NOW_SECOND * 1_000);
/** Three, and the one that a plan may stage beside them. */
const KEYS_MAX = 4;

const times = {
  jwksCacheSeconds: 1,
  skewSeconds: 1,
  propagationSeconds: 1,
  tokenLifeSecondsMax: 2,
};
const draft = { ...times, signForSeconds: 4, stagedSeconds: 0, retiringSeconds: 0, keysMax: 4 };
const policy: RotationPolicy = {
  ...draft,
  stagedSeconds: stagedSecondsMin(draft),
  retiringSeconds: retiringSecondsMin(draft),
};
const AGE_MAX = Math.max(policy.stagedSeconds, policy.retiringSeconds) + 1;

/** What is true of the world, whatever the policy takes for true. */
interface Truth {
  readonly cacheSeconds: number;
  readonly skewSeconds: number;
  readonly lagSeconds: number;
  readonly lifeSeconds: number;
  /** Each set has a number of its own. */
  readonly numbered: boolean;
}
const truth: Truth = {
  cacheSeconds: 1,
  skewSeconds: 1,
  lagSeconds: 1,
  lifeSeconds: 2,
  numbered: true,
};

/** All moments are relative to now, in seconds. */
interface State {
  readonly keys: readonly {
    readonly kid: string;
    readonly state: KeyRecord["state"];
    readonly age: number;
    /** Which of the keys came in an earlier set: 0, 1, 2 …; of one set the same. */
    readonly first: number;
    /** Signs because another was revoked, and not every copy has it yet: whoever meets it asks for the set. */
    readonly hasty: boolean;
    /** Staged under settings that are others by now. */
    readonly outdated: boolean;
  }[];
  /** Sets that a location may still go by, the newest first: `exp` of each key, `null` without. */
  readonly copies: readonly (readonly (readonly [kid: string, exp: number | null])[])[];
  /** The latest `exp` of what each key signed since it was in every copy, or by plan. */
  readonly tokens: readonly (readonly [kid: string, exp: number])[];
}

type Command =
  | RotationRequest
  | { readonly do: "plan" }
  | { readonly do: "nothing" }
  | { readonly do: "change settings" };

const records = (state: State): KeyRecord[] =>
  state.keys.map(({ kid, state: is, age, first, outdated }) => ({
    kid,
    state: is,
    since: epochMs(NOW - age * 1_000),
    firstSeq: first,
    isOutdated: outdated,
  }));

function commands(state: State, force: boolean): Command[] {
  const each = state.keys.flatMap(({ kid }): Command[] => [
    { do: "promote", kid, force },
    { do: "retire", kid, force },
    { do: "revoke", kid },
  ]);
  const change = { do: "change settings" } as const;
  return [{ do: "nothing" }, { do: "plan" }, change, { do: "stage" }, ...each];
}

function hasKnownSuccessor(keys: readonly KeyRecord[]): boolean {
  const by = { policy, signing: signingKey(keys) };
  return keys.some((key) => key.state === "staged" && NOW >= safeFrom(key, by));
}

/** The state a second later; a text: what went wrong; `undefined`: the command was refused. */
function after(state: State, command: Command, world: Truth): State | string | undefined {
  let keys: readonly KeyRecord[] = records(state);
  const hasty = new Set(state.keys.filter((key) => key.hasty).map(({ kid }) => kid));
  // Of the set that this second brings.
  const seq = world.numbered ? Math.max(-1, ...state.keys.map(({ first }) => first)) + 1 : 0;
  let made = 0;
  const newKid = () => `new${(made += 1)}`;
  const perform = (action: ReturnType<typeof plan>[number]) => {
    // Whoever does not know the one does not know the other.
    if (action.do === "promote" && hasty.has(action.replaces ?? "")) hasty.add(action.kid);
    const at = action.do === "stage" ? { now: NOW, newKid: newKid(), seq } : { now: NOW };
    keys = apply(keys, action, at);
  };
  if (command.do === "change settings") {
    // To others, or back: what is staged of either kind is now of the other.
    keys = keys.map((key) => ({ ...key, isOutdated: key.isOutdated !== true }));
  } else if (command.do === "plan") {
    for (const action of plan(keys, NOW, policy)) perform(action);
  } else if (command.do !== "nothing") {
    const asked = check(keys, command, NOW, policy);
    if (!asked.ok) return undefined;
    perform(asked.value);
  }
  // As the mint does in the same transaction: whatever happened, something signs.
  if (signingKey(keys) === undefined) {
    for (const action of plan(keys, NOW, { ...policy, signForSeconds: null })) perform(action);
    const kid = signingKey(keys)?.kid;
    if (kid !== undefined) hasty.add(kid);
  }
  const signing = signingKey(keys);
  if (signing === undefined) return "signing stops";
  const before = records(state);
  const tookOver = signingKey(before)?.kid !== signing.kid;
  if (command.do === "plan" && hasKnownSuccessor(before) && !tookOver && !hasKnownSuccessor(keys))
    return "the plan loses a successor that every location knows";
  const live = keys.filter(({ state: is }) => is !== "retired" && is !== "revoked");
  if (live.length > KEYS_MAX) return undefined;

  const published = publishedKeys(keys, NOW, policy).map(
    ({ kid, exp }) => [kid, exp === undefined ? null : exp - NOW_SECOND] as const,
  );
  if (published.length > policy.keysMax) return "too many keys are published";
  const copies = [published, ...state.copies].slice(0, world.cacheSeconds + world.lagSeconds + 1);
  for (const kid of hasty)
    if (copies.every((copy) => copy.some(([id]) => id === kid))) hasty.delete(kid);

  const revoked = new Set(keys.filter(({ state: is }) => is === "revoked").map(({ kid }) => kid));
  const tokens = new Map(state.tokens.filter(([kid]) => !revoked.has(kid)));
  const lagging = keys.filter(
    ({ state: is, since }) => is === "retiring" && NOW - since <= world.lagSeconds * 1_000,
  );
  for (const { kid } of [signing, ...lagging])
    if (!hasty.has(kid)) tokens.set(kid, world.lifeSeconds);

  for (const [kid, exp] of tokens) {
    for (let clock = -world.skewSeconds; clock <= world.skewSeconds; clock += 1) {
      if (clock >= exp + world.skewSeconds) continue;
      const lacks = copies.some((copy) => {
        const entry = copy.find(([id]) => id === kid);
        return entry === undefined || (entry[1] !== null && clock >= entry[1]);
      });
      if (lacks) return `a valid token is refused (${command.do})`;
    }
  }
  return canonical({
    keys: live.map(({ kid, state: is, since, firstSeq: first = 0, isOutdated }) => ({
      kid,
      state: is,
      age: Math.min((NOW - since) / 1_000 + 1, AGE_MAX),
      first,
      hasty: hasty.has(kid),
      outdated: is === "staged" && isOutdated === true,
    })),
    copies: copies.map((copy) => copy.map(([kid, exp]) => [kid, exp === null ? null : exp - 1])),
    tokens: [...tokens]
      .map(([kid, exp]) => [kid, exp - 1] as const)
      .filter(([, exp]) => exp + 2 * world.skewSeconds > 0),
  });
}

/** The same names for the same situation. */
function canonical(state: State): State {
  const names = new Map<string, string>();
  const name = (kid: string) => {
    if (!names.has(kid)) names.set(kid, `k${names.size}`);
    return names.get(kid)!;
  };
  const ranks = [...new Set(state.keys.map(({ first }) => first))].sort((a, b) => a - b);
  const keys = state.keys.map((key) => ({
    ...{ ...key, kid: name(key.kid), first: ranks.indexOf(key.first) },
  }));
  const tokens = state.tokens.map(([kid, exp]) => [name(kid), exp] as const);
  // What no token needs any more and no key is makes no difference in a copy.
  const copies = state.copies.map((copy) =>
    copy.filter(([kid]) => names.has(kid)).map(([kid, exp]) => [name(kid), exp] as const),
  );
  return { keys, copies, tokens };
}

function explore({ world = truth, force = false }: { world?: Truth; force?: boolean }): {
  readonly states: number;
  readonly wrong: ReadonlySet<string>;
} {
  const signing = { kid: "k0", state: "signing", first: 0, hasty: false, outdated: false } as const;
  const known: State = {
    keys: [{ ...signing, age: AGE_MAX }],
    copies: Array.from({ length: world.cacheSeconds + world.lagSeconds }, () => [
      ["k0", null] as const,
    ]),
    tokens: [],
  };
  // A store that was empty a second ago: one set brought both keys, and there are no copies of any other.
  const fresh: State = {
    keys: [
      { ...signing, age: 1 },
      { ...signing, kid: "k1", state: "staged", age: 1 },
    ],
    copies: [],
    tokens: [],
  };
  let edge: readonly State[] = [known, fresh];
  const seen = new Set(edge.map((state) => JSON.stringify(state)));
  const wrong = new Set<string>();
  while (edge.length > 0) {
    const next: State[] = [];
    for (const state of edge) {
      for (const command of commands(state, force)) {
        const result = after(state, command, world);
        if (result === undefined) continue;
        if (typeof result === "string") {
          wrong.add(result);
          continue;
        }
        const text = JSON.stringify(result);
        if (seen.has(text)) continue;
        seen.add(text);
        next.push(result);
      }
    }
    edge = next;
  }
  return { states: seen.size, wrong };
}

test("no reachable state of three keys in which a valid token is refused, signing stops or a known successor is lost", () => {
  const { states, wrong } = explore({});
  expect([...wrong]).toEqual([]);
  expect(states).toBeGreaterThan(1_000);
});

test.each<[string, Parameters<typeof explore>[0]]>([
  ["steps are forced before they are safe", { force: true }],
  ["tokens live a second longer than the policy says", { world: { ...truth, lifeSeconds: 3 } }],
  [
    "copies are older than the policy says, by more than the skew that staging adds",
    { world: { ...truth, cacheSeconds: 3 } },
  ],
  ["clocks are a second further apart, on one side alone", { world: { ...truth, skewSeconds: 2 } }],
  ["sets have no numbers of their own", { world: { ...truth, numbered: false } }],
])("canary: a refusal is found when %s", (_name, broken) => {
  expect([...explore(broken).wrong].join()).toContain("a valid token is refused");
});

/**
 * The keys of one use as their mint keeps them, what of it locations know, and what was signed: one second after the
 * other, for every command, at any clock within the tolerance. All moments are relative to now, in seconds, so that ages
 * which make no difference any more are one and the states are few.
 */
import {
  type KeyRecord,
  type RotationAction,
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
import { epochMs, epochSeconds } from "@vestibule/kernel/units";

const NOW_SECOND = 1_000;
/** Three, and the one that a plan may stage beside them. */
const KEYS_MAX = 4;

const times = {
  jwksCacheSeconds: 1,
  skewSeconds: 1,
  propagationSeconds: 1,
  tokenLifeSecondsMax: 2,
};
const draft = {
  ...times,
  signForSeconds: 4,
  stagedSeconds: 0,
  retiringSeconds: 0,
  keysMax: KEYS_MAX,
};
export const policy: RotationPolicy = {
  ...draft,
  stagedSeconds: stagedSecondsMin(draft),
  retiringSeconds: retiringSecondsMin(draft),
};
const frozen: RotationPolicy = { ...policy, signForSeconds: null };

/** What is true of the world, whatever the policy takes for true. */
export interface Truth {
  readonly cacheSeconds: number;
  readonly skewSeconds: number;
  readonly lagSeconds: number;
  readonly lifeSeconds: number;
  /** How far the clock of each mint is ahead: with two, one takes over from the other. No location is further from any. */
  readonly mints: readonly number[];
  /** The mint knows that what it signs lives for so long, where that is more than the policy says. */
  readonly knownLifeSeconds: number | undefined;
  /** Each set has a number of its own. */
  readonly numbered: boolean;
}
export const truth: Truth = {
  cacheSeconds: 1,
  skewSeconds: 1,
  lagSeconds: 1,
  lifeSeconds: 2,
  mints: [0],
  knownLifeSeconds: undefined,
  numbered: true,
};

export interface Key {
  readonly kid: string;
  readonly state: KeyRecord["state"];
  readonly age: number;
  /** Which of the keys came in an earlier set: 0, 1, 2 …; of one set the same. */
  readonly first: number;
  /** Staged under settings that are others by now. */
  readonly outdated: boolean;
  readonly signedUntil: number | null;
  /** How long ago it signed for the last time by plan; `null`: it signs, or never did. */
  readonly left: number | null;
  /** Signs because another was revoked, and not every copy has it yet: whoever meets it asks for the set. */
  readonly hasty: boolean;
}

type Copy = readonly (readonly [kid: string, exp: number | null])[];

export interface State {
  /** Which mint leads. */
  readonly mint: number;
  /** A key of the other use, which everybody knows, signs until one of this use may. */
  readonly standIn: boolean;
  readonly keys: readonly Key[];
  /** Sets that a location may still go by, the newest first: `exp` of each key, `null` without. */
  readonly copies: readonly Copy[];
  /** The latest `exp` of what each key signed since it was in every copy, or by plan. */
  readonly tokens: readonly (readonly [kid: string, exp: number])[];
}

export type Command =
  /** `settles`: in the same transaction what that makes due is done, as a mint does it. */
  | { readonly do: "request"; readonly request: RotationRequest; readonly settles: boolean }
  /** Nobody does anything, not even what is due. */
  | { readonly do: "nothing" }
  /** What is due by the schedule, or while a sale freezes it. A restart does the same. */
  | { readonly do: "plan"; readonly frozen: boolean }
  /** Another mint leads from now on, and does what is due. */
  | { readonly do: "failover" }
  /** To others, or back: what is staged of either kind is now of the other. */
  | { readonly do: "change settings" };

export type Outcome =
  | { readonly kind: "next"; readonly state: State }
  | { readonly kind: "refused"; readonly reason: string }
  /** More keys than are looked at here. */
  | { readonly kind: "beyond" }
  | { readonly kind: "wrong"; readonly what: string; readonly next: State | undefined };

const at = (second: number) => epochMs((NOW_SECOND + second) * 1_000);
export const NOW = at(0);

export const recordsOf = (state: State): KeyRecord[] =>
  state.keys.map(({ kid, state: is, age, first, outdated, signedUntil }) => ({
    ...{ kid, state: is, since: at(-age), firstSeq: first, isOutdated: outdated },
    ...(signedUntil === null ? {} : { signedUntil: epochSeconds(NOW_SECOND + signedUntil) }),
  }));

/** What the mint does within one second. */
class Second {
  keys: readonly KeyRecord[];
  readonly now: ReturnType<typeof epochMs>;
  readonly #world: Truth;
  readonly #standIn: boolean;
  /** Number of the set that this second brings. */
  readonly #seq: number;
  #made = 0;

  constructor(state: State, mint: number, world: Truth) {
    this.keys = recordsOf(state);
    this.now = at(world.mints[mint] ?? 0);
    this.#world = world;
    this.#standIn = state.standIn;
    this.#seq = world.numbered ? Math.max(-1, ...state.keys.map(({ first }) => first)) + 1 : 0;
  }

  perform(action: RotationAction): void {
    const { now } = this;
    const life = this.#world.knownLifeSeconds;
    const lastExp = life === undefined ? undefined : now / 1_000 + this.#world.lagSeconds + life;
    this.keys = apply(this.keys, action, {
      now,
      ...(action.do === "stage" ? { newKid: `new${(this.#made += 1)}`, seq: this.#seq } : {}),
      ...(lastExp === undefined ? {} : { signedUntil: epochSeconds(lastExp) }),
    });
  }

  settle(by: RotationPolicy): void {
    for (const action of plan(this.keys, this.now, by, this.#standIn)) this.perform(action);
  }

  /** @returns why not; `undefined`: it was done. */
  command(command: Command): string | undefined {
    switch (command.do) {
      case "nothing":
        return undefined;
      case "change settings":
        this.keys = this.keys.map((key) => ({ ...key, isOutdated: key.isOutdated !== true }));
        return undefined;
      case "plan":
        this.settle(command.frozen ? frozen : policy);
        return undefined;
      case "failover":
        this.settle(policy);
        return undefined;
      case "request": {
        const asked = check(this.keys, command.request, this.now, frozen);
        if (!asked.ok) return asked.refusal.reason;
        this.perform(asked.value);
        // Whatever happened, something signs.
        if (command.settles || !this.signs) this.settle(frozen);
        return undefined;
      }
    }
  }

  get signs(): boolean {
    return signingKey(this.keys) !== undefined || this.#standIn;
  }

  /** Whether a staged key is known wherever the signing one is. */
  get hasKnownSuccessor(): boolean {
    const by = { policy, signing: signingKey(this.keys) };
    return this.keys.some((key) => key.state === "staged" && this.now >= safeFrom(key, by));
  }
}

/** One second on. */
export function after(state: State, command: Command, world: Truth): Outcome {
  const mint = command.do === "failover" ? (state.mint + 1) % world.mints.length : state.mint;
  const second = new Second(state, mint, world);
  const before = { hadSuccessor: second.hasKnownSuccessor, signed: signingKey(second.keys)?.kid };
  const reason = second.command(command);
  if (reason !== undefined) return { kind: "refused", reason };
  const { keys } = second;
  const live = keys.filter(({ state: is }) => is !== "retired" && is !== "revoked");
  if (live.length > KEYS_MAX) return { kind: "beyond" };
  const wrong = (what: string): Outcome => ({ kind: "wrong", what, next: undefined });
  // Before its first term a mint signs nothing.
  if (!second.signs && keys.length > 0) return wrong("signing stops");
  const isPlanned = command.do === "plan" || command.do === "failover";
  const tookOver = signingKey(keys)?.kid !== before.signed;
  if (isPlanned && before.hadSuccessor && !tookOver && !second.hasKnownSuccessor)
    return wrong("the plan loses a successor that every location knows");
  return known(state, { second, mint }, world);
}

/** What locations know of that, and what they owe to whom. */
function known(
  state: State,
  { second, mint }: { second: Second; mint: number },
  world: Truth,
): Outcome {
  const { keys } = second;
  const published: Copy = publishedKeys(keys, second.now, policy).map(
    ({ kid, exp }) => [kid, exp === undefined ? null : exp - NOW_SECOND] as const,
  );
  if (published.length > policy.keysMax)
    return { kind: "wrong", what: "too many keys are published", next: undefined };
  // Where there is no key yet there is no set either.
  const sets = keys.length === 0 && !state.standIn ? [] : [published];
  const copies = [...sets, ...state.copies].slice(0, world.cacheSeconds + world.lagSeconds + 1);
  const facts = factsAfter(state, { keys, copies });
  const tokens = tokensAfter(state, facts, { world, mint });
  const refused = [...tokens].filter(([kid, exp]) => isLacking(kid, exp, { copies, world }));
  for (const [kid] of refused) tokens.delete(kid);
  const next = canonical(aged({ ...state, mint }, { facts, copies, tokens }, world));
  if (refused.length === 0) return { kind: "next", state: next };
  return { kind: "wrong", what: "a valid token is refused", next };
}

/** What became of each key, as seen from outside. */
function factsAfter(
  state: State,
  { keys, copies }: { keys: readonly KeyRecord[]; copies: readonly Copy[] },
): readonly Key[] {
  const before = new Map(state.keys.map((key) => [key.kid, key]));
  const signing = signingKey(keys)?.kid;
  const left = keys.find(
    ({ kid, state: is }) => is === "retiring" && before.get(kid)?.state === "signing",
  );
  // Whoever does not know the one does not know the other; nor does anybody whose key was revoked.
  const isHaste = left === undefined ? !state.standIn : before.get(left.kid)?.hasty === true;
  return keys.map((record): Key => {
    const { kid, state: is, since, signedUntil, firstSeq, isOutdated } = record;
    const was = before.get(kid);
    const isNew = kid === signing && was?.state !== "signing";
    const isEverywhere = copies.every((copy) => copy.some(([id]) => id === kid));
    const hasty = was?.hasty === true || (isNew && isHaste);
    return {
      ...{ kid, state: is, age: NOW_SECOND - since / 1_000, hasty: hasty && !isEverywhere },
      ...{ first: firstSeq ?? 0, outdated: is === "staged" && isOutdated === true },
      signedUntil: signedUntil === undefined ? null : signedUntil - NOW_SECOND,
      left: kid === left?.kid ? 0 : (was?.left ?? null),
    };
  });
}

/** The latest `exp` of each key that is in force, with what is signed in this second. */
function tokensAfter(
  state: State,
  facts: readonly Key[],
  { world, mint }: { world: Truth; mint: number },
): Map<string, number> {
  const revoked = new Set(facts.filter((key) => key.state === "revoked").map(({ kid }) => kid));
  const tokens = new Map(state.tokens.filter(([kid]) => !revoked.has(kid)));
  for (const { kid, state: is, left, hasty } of facts) {
    const lags = is === "retiring" && left !== null && left <= world.lagSeconds;
    if ((is !== "signing" && !lags) || hasty) continue;
    // Who has not heard yet may be any of the mints.
    const clock = lags ? Math.max(...world.mints) : (world.mints[mint] ?? 0);
    tokens.set(kid, Math.max(tokens.get(kid) ?? 0, clock + world.lifeSeconds));
  }
  return tokens;
}

/** Whether a location with some clock, and some copy, refuses what it still has to take. */
function isLacking(
  kid: string,
  exp: number,
  { copies, world }: { copies: readonly Copy[]; world: Truth },
): boolean {
  const from = Math.max(...world.mints) - world.skewSeconds;
  const until = Math.min(...world.mints) + world.skewSeconds;
  for (let clock = from; clock <= until; clock += 1) {
    if (clock >= exp + world.skewSeconds) continue;
    const lacks = copies.some((copy) => {
      const entry = copy.find(([id]) => id === kid);
      return entry === undefined || (entry[1] !== null && clock >= entry[1]);
    });
    if (lacks) return true;
  }
  return false;
}

function aged(
  { mint, standIn }: State,
  {
    facts,
    copies,
    tokens,
  }: { facts: readonly Key[]; copies: readonly Copy[]; tokens: ReadonlyMap<string, number> },
  world: Truth,
): State {
  const ageMax = Math.max(policy.stagedSeconds, policy.retiringSeconds) + 2;
  const goneBy = -2 * world.skewSeconds - Math.max(...world.mints);
  return {
    ...{ mint, standIn },
    keys: facts
      .filter((key) => key.state !== "retired" && key.state !== "revoked")
      .map(({ age, signedUntil, left, ...rest }) => ({
        ...{ ...rest, age: Math.min(age + 1, ageMax) },
        signedUntil: signedUntil === null ? null : Math.max(signedUntil - 1, goneBy),
        left: left === null ? null : Math.min(left + 1, world.lagSeconds + 1),
      })),
    copies: copies.map((copy) =>
      copy.map(([kid, exp]) => [kid, exp === null ? null : Math.max(exp - 1, goneBy)] as const),
    ),
    tokens: [...tokens]
      .map(([kid, exp]) => [kid, exp - 1] as const)
      .filter(([, exp]) => exp > goneBy),
  };
}

/** The same names for the same situation. */
function canonical(state: State): State {
  const names = new Map<string, string>();
  const name = (kid: string): string => {
    const known = names.get(kid) ?? `k${names.size}`;
    names.set(kid, known);
    return known;
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
  return { ...state, keys, copies, tokens };
}

/** A key that has signed for long; a store without any; one in which a key of the other use stands in. */
export type Beginning = "one key" | "no key" | "a stand-in";

export function beginning(which: Beginning, world: Truth): State {
  const old: Key = {
    ...{ kid: "k0", state: "signing", age: policy.retiringSeconds + 2, first: 0 },
    ...{ outdated: false, signedUntil: null, left: null, hasty: false },
  };
  const copy: Copy = which === "one key" ? [["k0", null]] : [];
  // Of a store without any there are no copies.
  const length = which === "no key" ? 0 : world.cacheSeconds + world.lagSeconds;
  return {
    ...{ mint: 0, standIn: which === "a stand-in", tokens: [] },
    keys: which === "one key" ? [old] : [],
    copies: Array.from({ length }, () => copy),
  };
}

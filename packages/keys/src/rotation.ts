/**
 * Which key signs, which are published, and when each may move on (design section 9), as pure functions of
 * the keys of one use, the time and the policy. The mint stores what they decide.
 *
 * `staged` (published, not signing) → `signing` → `retiring` (verifies only) → `retired`; `revoked` at once.
 */
import { assert } from "@vestibule/kernel/assert";
import { type Result, ok, refuse } from "@vestibule/kernel/result";
import {
  type EpochMs,
  type EpochSeconds,
  addMs,
  epochMs,
  epochSeconds,
} from "@vestibule/kernel/units";

export type KeyState = "staged" | "signing" | "retiring" | "retired" | "revoked";

export interface KeyRecord {
  readonly kid: string;
  readonly state: KeyState;
  /** When it took this state. For `staged`: when the published set first held it. */
  readonly since: EpochMs;
  /** `seq` of the first published set that held it, where it was written down. */
  readonly firstSeq?: number;
  /**
   * The latest `exp` among all that it signed, where the mint knows. Retiring lasts at least until then, also
   * when the policy's longest life has become shorter since.
   */
  readonly signedUntil?: EpochSeconds;
  /** Of a staged key: it was made under settings that are others by now, and gives way to one made under these. */
  readonly isOutdated?: boolean;
}

/** All whole seconds. */
export interface RotationPolicy {
  /** How long a location may go on using its copy of the published set. */
  readonly jwksCacheSeconds: number;
  /** Tolerance between clocks. */
  readonly skewSeconds: number;
  /** How long until a change of the store is in what every mint answers. */
  readonly propagationSeconds: number;
  /**
   * The longest time from signing to `exp` of anything that a key signs and that must outlive it: admissions
   * (horizon + lifetime) and tickets (until the last event's end).
   */
  readonly tokenLifeSecondsMax: number;
  /** A key signs for this long before the next takes over; `null`: only when somebody asks. */
  readonly signForSeconds: number | null;
  /** What the operator sets, checked against what the above demand. */
  readonly stagedSeconds: number;
  readonly retiringSeconds: number;
  /** Published keys of this use, one place of them kept free for a key that must sign at once. */
  readonly keysMax: number;
}

/** Smallest `stagedSeconds` that lets every location learn a key before it signs. */
export function stagedSecondsMin(policy: RotationPolicy): number {
  return policy.jwksCacheSeconds + policy.skewSeconds + policy.propagationSeconds;
}

/**
 * Smallest `retiringSeconds` that lets everything signed run out first, by the clock of whoever verifies. Until
 * the last signer has changed over, the old key signs (`propagationSeconds`). A verifier takes a token for `skew`
 * longer than its `exp` says (one skew), and its clock may be behind the mint's (the other): without the second, the
 * mint takes the key out of the set while such a location still owes that token its answer.
 */
export function retiringSecondsMin(policy: RotationPolicy): number {
  return policy.propagationSeconds + policy.tokenLifeSecondsMax + 2 * policy.skewSeconds;
}

/**
 * The two inequalities of a rotation that refuses nobody (law 7).
 *
 * @throws AssertionError when the policy contradicts itself, or a value is not a whole number of seconds.
 */
export function assertPolicy(policy: RotationPolicy): void {
  for (const [name, value] of Object.entries(policy) as [string, number | null][]) {
    const whole =
      value === null ? name === "signForSeconds" : Number.isSafeInteger(value) && value >= 0;
    assert(whole, `${name} is a whole number of seconds`);
  }
  assert(
    policy.stagedSeconds >= stagedSecondsMin(policy),
    "a key is staged for at least the JWKS cache time, the skew and the propagation",
  );
  assert(
    policy.retiringSeconds >= retiringSecondsMin(policy),
    "a key retires for at least the propagation, the longest token life and the skew of both sides",
  );
  assert(
    policy.keysMax >= 4,
    "a signing, a staged and a retiring key, and a place that stays free",
  );
  assert(
    policy.signForSeconds === null || policy.signForSeconds >= policy.stagedSeconds,
    "the next key can be staged while the present one signs",
  );
}

/** One change. `stage` asks the caller to make a key; the others name one. */
export type RotationAction =
  /** `signAtOnce`: nothing signs and nothing is staged, so waiting would only be an outage. */
  | { readonly do: "stage"; readonly signAtOnce: boolean }
  /** `kid` signs from now on; `replaces` verifies only. One transaction. */
  | { readonly do: "promote"; readonly kid: string; readonly replaces: string | undefined }
  | { readonly do: "retire"; readonly kid: string }
  | { readonly do: "revoke"; readonly kid: string };

/** What an operator may ask for. `force`: also when it is not safe yet. */
export type RotationRequest =
  | { readonly do: "stage" }
  | { readonly do: "promote" | "retire"; readonly kid: string; readonly force?: boolean }
  | { readonly do: "revoke"; readonly kid: string };

export type RotationRefusal =
  | { readonly reason: "not-yet-safe"; readonly safeFrom: EpochMs }
  | { readonly reason: "wrong-state"; readonly state: KeyState }
  | { readonly reason: "unknown-key" }
  | { readonly reason: "too-many-keys" };

/**
 * What is due at `now`, in the order in which it is to be done: none of it is early. With a fresh store this
 * makes the first key and its successor; a successor is always kept staged, so that a revoked key is
 * replaced at once by one that every location knows. One that is outdated stays until its own successor could sign.
 *
 * @param standIn a key of another use, which every location knows, signs for this use until one of its own may: so
 * that the first one need not sign before it is known.
 */
export function plan(
  keys: readonly KeyRecord[],
  now: EpochMs,
  policy: RotationPolicy,
  standIn: boolean = false,
): readonly RotationAction[] {
  assertPolicy(policy);
  const actions: RotationAction[] = [];
  for (const key of keys) {
    if (key.state === "retiring" && now >= safeFrom(key, { policy }))
      actions.push({ do: "retire", kid: key.kid });
  }
  const signing = signingKey(keys);
  const staged = keys.filter((key) => key.state === "staged").sort(oldestFirst);
  const current = staged.filter((key) => key.isOutdated !== true);
  const isKnown = current.some((key) => now >= safeFrom(key, { policy, signing }));
  const gone = isKnown ? staged.filter((key) => key.isOutdated === true) : [];
  for (const { kid } of gone) actions.push({ do: "revoke", kid });
  let published = publishedKeys(keys, now, policy).length - gone.length;
  let successors = current.length;
  // While another signs, none takes over that is on its way out, if only there is room for its own successor.
  const mayWait = signing !== undefined && (successors > 0 || published < policy.keysMax - 1);
  const next = isKnown || mayWait ? current[0] : staged[0];
  const signsNothing = signing === undefined && !standIn;
  if (signsNothing && next === undefined && published < policy.keysMax) {
    actions.push({ do: "stage", signAtOnce: true });
    published += 1;
  } else if (next !== undefined && mayTakeOver(next, { signing, standIn, now, policy })) {
    actions.push({ do: "promote", kid: next.kid, replaces: signing?.kid });
    if (next.isOutdated !== true) successors -= 1;
  }
  if (successors === 0 && published < policy.keysMax - 1)
    actions.push({ do: "stage", signAtOnce: false });
  return actions;
}

function mayTakeOver(
  next: KeyRecord,
  {
    signing,
    standIn,
    now,
    policy,
  }: {
    signing: KeyRecord | undefined;
    standIn: boolean;
    now: EpochMs;
    policy: RotationPolicy;
  },
): boolean {
  // Whoever meets a key too young to be in their copy asks for the set again; not signing would stop everybody.
  if (signing === undefined) return !standIn || now >= safeFrom(next, { policy });
  if (policy.signForSeconds === null) return false;
  const safe = safeFrom(next, { policy, signing });
  return now >= later(signing.since, policy.signForSeconds) && now >= safe;
}

/** The change that `request` asks for, when it is safe at `now`; else since when it will be. Revoking always is. */
export function check(
  keys: readonly KeyRecord[],
  request: RotationRequest,
  now: EpochMs,
  policy: RotationPolicy,
): Result<RotationAction, RotationRefusal> {
  assertPolicy(policy);
  if (request.do === "stage") {
    const full = publishedKeys(keys, now, policy).length >= policy.keysMax - 1;
    return full ? refuse({ reason: "too-many-keys" }) : ok({ do: "stage", signAtOnce: false });
  }
  const { kid } = request;
  const key = keys.find((candidate) => candidate.kid === kid);
  if (key === undefined) return refuse({ reason: "unknown-key" });
  if (request.do === "revoke")
    return key.state === "revoked"
      ? refuse({ reason: "wrong-state", state: key.state })
      : ok({ do: "revoke", kid });
  const from = request.do === "promote" ? "staged" : "retiring";
  if (key.state !== from) return refuse({ reason: "wrong-state", state: key.state });
  const signing = signingKey(keys);
  const safe = safeFrom(key, { policy, signing });
  if (now < safe && request.force !== true)
    return refuse({ reason: "not-yet-safe", safeFrom: safe });
  return request.do === "promote"
    ? ok({ do: "promote", kid, replaces: signing?.kid })
    : ok({ do: "retire", kid });
}

/**
 * The records after `action`. A store that keeps them in a database does the same in one transaction.
 *
 * @param at.newKid the key that was made for `stage`.
 * @param at.seq number of the set that will hold it first, where it is known.
 * @param at.signedUntil latest `exp` that the replaced key signed, where it is known.
 */
export function apply(
  keys: readonly KeyRecord[],
  action: RotationAction,
  at: {
    readonly now: EpochMs;
    readonly newKid?: string;
    readonly seq?: number;
    readonly signedUntil?: EpochSeconds;
  },
): readonly KeyRecord[] {
  const { now, newKid, seq, signedUntil } = at;
  switch (action.do) {
    case "stage": {
      assert(newKid !== undefined, "a staged key has been made");
      assert(!keys.some((key) => key.kid === newKid), "a key is staged once");
      assert(!action.signAtOnce || signingKey(keys) === undefined, "one key signs");
      const state = action.signAtOnce ? "signing" : "staged";
      const first = seq === undefined ? {} : { firstSeq: seq };
      return [...keys, { kid: newKid, state, since: now, ...first }];
    }
    case "promote": {
      assert(signingKey(keys)?.kid === action.replaces, "one key signs");
      return keys.map((key) => {
        if (key.kid === action.kid) return { ...key, state: "signing", since: now };
        if (key.kid !== action.replaces) return key;
        return {
          ...key,
          state: "retiring",
          since: now,
          ...(signedUntil === undefined ? {} : { signedUntil }),
        };
      });
    }
    case "retire":
    case "revoke": {
      const state = action.do === "retire" ? "retired" : "revoked";
      return keys.map((key) => (key.kid === action.kid ? { ...key, state, since: now } : key));
    }
  }
}

/**
 * From when the key's next step (`staged` → signs, `retiring` → retired) refuses nobody.
 *
 * A staged key that is in every set that holds the signing key is safe at once: whoever verifies by the one has the
 * other. So it is with the first two keys of a store, which one set brought. By the numbers of the sets, and not by any
 * clock: those of two mints differ. Where the signing key itself is not known yet, both are equally unknown.
 *
 * @param by.signing the key of this use that signs now.
 */
export function safeFrom(
  key: KeyRecord,
  by: { readonly policy: RotationPolicy; readonly signing?: KeyRecord | undefined },
): EpochMs {
  const { policy, signing } = by;
  if (key.state === "staged") {
    const { firstSeq } = key;
    const isKnown = firstSeq !== undefined && firstSeq <= (signing?.firstSeq ?? -1);
    return isKnown ? key.since : later(key.since, policy.stagedSeconds);
  }
  assert(key.state === "retiring", "only a staged or retiring key waits for something");
  const byPolicy = later(key.since, policy.retiringSeconds);
  if (key.signedUntil === undefined) return byPolicy;
  const bySignatures = epochMs((key.signedUntil + 2 * policy.skewSeconds) * 1000);
  return bySignatures > byPolicy ? bySignatures : byPolicy;
}

/** The one key that signs; undefined before the first, and after it was revoked. */
export function signingKey(keys: readonly KeyRecord[]): KeyRecord | undefined {
  const signing = keys.filter((key) => key.state === "signing");
  assert(signing.length <= 1, "one key signs");
  return signing[0];
}

/**
 * What the JWKS lists at `now`, judged by the clock and not by whether anybody has run the plan since. A
 * retiring key carries its end (`exp`, see `PublicJwk`), one skew before the mint takes it out: a location whose
 * clock is behind goes by `exp`, and has the key until then.
 */
export function publishedKeys(
  keys: readonly KeyRecord[],
  now: EpochMs,
  policy: RotationPolicy,
): readonly { readonly kid: string; readonly exp?: EpochSeconds }[] {
  const published: { kid: string; exp?: EpochSeconds }[] = [];
  for (const key of keys) {
    if (key.state === "staged" || key.state === "signing") published.push({ kid: key.kid });
    if (key.state !== "retiring") continue;
    const end = safeFrom(key, { policy });
    const exp = epochSeconds(Math.ceil(end / 1000) - policy.skewSeconds);
    if (now < end) published.push({ kid: key.kid, exp });
  }
  return published;
}

function later(since: EpochMs, seconds: number): EpochMs {
  return addMs(since, seconds * 1000);
}

function oldestFirst(one: KeyRecord, other: KeyRecord): number {
  return one.since - other.since || (one.kid < other.kid ? -1 : 1);
}

/** What an operator sees of the keys: states, and when each next step is safe. */
import type { KeysView, KeyView } from "@vestibule/contracts/keys-api";
import type { EpochMs } from "@vestibule/kernel/units";
import { KEY_USES } from "@vestibule/keys/public-key";
import { safeFrom, type RotationPolicy } from "@vestibule/keys/rotation";
import type { KeyRow, StoredKeys } from "../store/store.ts";
import type { KeyFacts, Policies } from "./key-policy.ts";

export function keysView(
  { seq, keys }: StoredKeys,
  {
    now,
    policies,
    facts,
  }: { readonly now: EpochMs; readonly policies: Policies; readonly facts: KeyFacts },
): KeysView {
  const views = KEY_USES.flatMap((use) =>
    keys
      .filter((key) => key.use === use)
      .map((key) => keyView(key, { now, policy: policies[use], keys })),
  );
  return { serverTime: now, seq, policies, frozenBy: [...facts.frozenBy], keys: views };
}

export function keyView(
  key: KeyRow,
  {
    now,
    policy,
    keys,
  }: {
    readonly now: EpochMs;
    readonly policy: RotationPolicy;
    readonly keys: readonly KeyRow[];
  },
): KeyView {
  const { kid, use, state, since, createdAt, publicJwk } = key;
  const view = {
    ...{ kid, use, alg: publicJwk.alg, state, since, createdAt },
    ...(publicJwk.vst_use === undefined ? { unrestricted: true as const } : {}),
  };
  if (state !== "staged" && state !== "retiring") return view;
  const signing = keys.find((other) => other.use === use && other.state === "signing");
  const safe = safeFrom(key, { policy, signing });
  const isSafe = now >= safe;
  if (state === "retiring") {
    return { ...view, until: safe, next: { step: "retire", safeFrom: safe, isSafe, dueAt: safe } };
  }
  const first = keys.find((other) => other.use === use && other.state === "staged");
  const { signForSeconds } = policy;
  const dueAt =
    signForSeconds === null || signing === undefined || first !== key
      ? undefined
      : Math.max(safe, signing.since + signForSeconds * 1_000);
  const due = dueAt === undefined ? {} : { dueAt };
  return { ...view, next: { step: "activate", safeFrom: safe, isSafe, ...due } };
}

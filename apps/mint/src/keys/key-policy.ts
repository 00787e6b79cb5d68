/** The mint's rotation policies, and what of the events they depend on. */
import {
  ADMISSION_KEY_RETIRING_SECONDS,
  ADMISSION_LIFE_SECONDS_DEFAULT,
  DRIP_STATEMENT_SECONDS,
  JWKS_CACHE_SECONDS_MAX,
  KEY_STAGED_SECONDS,
  KEYS_PER_USE_MAX,
  KEYS_PROPAGATION_SECONDS,
  LINE_KEY_RETIRING_SECONDS,
  LINE_KEY_SLACK_SECONDS,
  SKEW_SECONDS_MAX,
} from "@vestibule/contracts/limits";
import { addMs, type EpochMs, type EpochSeconds, epochSeconds } from "@vestibule/kernel/units";
import type { KeyUse } from "@vestibule/keys/public-key";
import { assertPolicy, type RotationPolicy } from "@vestibule/keys/rotation";
import { isEnded, stateAt } from "../line/event-state.ts";
import type { EventRecord, KeyRow } from "../store/store.ts";

/** Tolerances and caches as wide as any location may have them. */
const COMMON = {
  jwksCacheSeconds: JWKS_CACHE_SECONDS_MAX,
  skewSeconds: SKEW_SECONDS_MAX,
  propagationSeconds: KEYS_PROPAGATION_SECONDS,
  stagedSeconds: KEY_STAGED_SECONDS,
  keysMax: KEYS_PER_USE_MAX,
} as const;

export type Policies = Readonly<Record<KeyUse, RotationPolicy>>;

/** @param signForSeconds `null`: a key signs until somebody says otherwise. */
export function policies(signForSeconds: number | null): Policies {
  const line = {
    ...COMMON,
    signForSeconds,
    tokenLifeSecondsMax: DRIP_STATEMENT_SECONDS,
    retiringSeconds: LINE_KEY_RETIRING_SECONDS,
  };
  const admission = {
    ...COMMON,
    signForSeconds,
    tokenLifeSecondsMax: ADMISSION_LIFE_SECONDS_DEFAULT,
    retiringSeconds: ADMISSION_KEY_RETIRING_SECONDS,
  };
  assertPolicy(line);
  assertPolicy(admission);
  return { line, admission };
}

/** What the events say about keys. */
export interface KeyFacts {
  /** The longest time from signing an admission to its `exp`, in any event. */
  readonly admissionLifeSeconds: number;
  /** Of events that are not over: when tickets of each may have begun, and when they end. */
  readonly lines: readonly { readonly createdAt: EpochMs; readonly endsAt: number }[];
  /** Events that are on and have `freezeKeys`. */
  readonly frozenBy: readonly string[];
}

export function keyFacts(records: readonly EventRecord[], now: EpochMs): KeyFacts {
  const lives = records.map(({ settings }) => settings.horizonSeconds + settings.lifetimeSeconds);
  const isOn = (record: EventRecord): boolean => {
    const state = stateAt(record, now);
    return state !== "scheduled" && state !== "ended";
  };
  return {
    admissionLifeSeconds: Math.max(ADMISSION_LIFE_SECONDS_DEFAULT, ...lives),
    lines: records
      .filter((record) => !isEnded(record, now))
      .map(({ createdAt, settings }) => ({ createdAt, endsAt: settings.endsAt })),
    frozenBy: records
      .filter((record) => record.settings.freezeKeys === true && isOn(record))
      .map(({ settings }) => settings.event),
  };
}

/** A second after which nothing is valid that `key` signed until it retired at `since`. */
export function signedUntil(
  key: Pick<KeyRow, "use" | "publicJwk">,
  since: EpochMs,
  facts: KeyFacts,
): EpochSeconds {
  const lastSigned = addMs(since, KEYS_PROPAGATION_SECONDS * 1_000);
  const tickets = facts.lines
    .filter(({ createdAt }) => createdAt <= lastSigned)
    .map(({ endsAt }) => Math.ceil(endsAt / 1_000) + LINE_KEY_SLACK_SECONDS);
  const admissions = Math.ceil(lastSigned / 1_000) + facts.admissionLifeSeconds;
  const signed = [
    ...(key.use === "line" ? tickets : []),
    // A key from before there were two uses signed admissions too.
    ...(key.use === "admission" || key.publicJwk.vst_use === undefined ? [admissions] : []),
  ];
  return epochSeconds(Math.max(Math.ceil(lastSigned / 1_000), ...signed));
}

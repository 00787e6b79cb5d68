/** The times of one slot (design section 3). Tokens carry whole seconds, segments milliseconds. */
import type { EpochMs } from "@vestibule/kernel/units";

export interface SlotTimes {
  readonly opensAt: EpochMs;
  /** The admission's `exp`: first moment at which the slot is over. */
  readonly closesAt: EpochMs;
  /** Last moment at which it may be claimed; later it has lapsed. */
  readonly claimBy: EpochMs;
}

/** Claim window in force, in milliseconds: never longer than the slot itself. */
export function claimWindowMs(settings: {
  readonly claimWindowSeconds: number;
  readonly lifetimeSeconds: number;
}): number {
  return Math.min(settings.claimWindowSeconds, settings.lifetimeSeconds) * 1000;
}

/** `closesAt` counts from the whole second of the opening, which is the admission's `nbf`. */
export function slotTimes(
  opensAt: EpochMs,
  settings: { readonly claimWindowSeconds: number; readonly lifetimeSeconds: number },
): SlotTimes {
  const closesAt = (Math.floor(opensAt / 1000) + settings.lifetimeSeconds) * 1000;
  return {
    opensAt,
    closesAt: closesAt as EpochMs,
    claimBy: (opensAt + claimWindowMs(settings)) as EpochMs,
  };
}

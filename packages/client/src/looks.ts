/** When the line is looked at next: the schedule of everybody, and what a moment asks for besides. */
import { pollDelayMs } from "@vestibule/drip/poll";
import { claimWindowMs } from "@vestibule/drip/slot";
import type { Device } from "./device.ts";
import {
  FAULT_LOOK_MS,
  NEWCOMER_ETA_MS,
  NEWCOMER_LOOKS,
  NEWCOMER_LOOK_MS,
  REFUSED_LOOK_MS,
  SHUT_SOONEST_MS,
} from "./pace.ts";
import type { Trouble } from "./trouble.ts";
import type { View } from "./view.ts";

export class Looks {
  readonly #device: Device;
  readonly #trouble: Trouble;
  /** Asked for besides the schedule: in so long. */
  #askedMs: number | undefined;
  #quick = 0;

  constructor(device: Device, trouble: Trouble) {
    this.#device = device;
    this.#trouble = trouble;
  }

  atOnce(): void {
    this.#askedMs = 0;
  }

  soon(): void {
    this.#askedMs ??= REFUSED_LOOK_MS * (1 + this.#device.random());
  }

  /** A few, quickly one after the other, for as long as the turn may be next. */
  quickly(): void {
    this.#quick = NEWCOMER_LOOKS;
  }

  /** One that nothing may push away. */
  get isUrgent(): boolean {
    return this.#askedMs !== undefined;
  }

  /** Milliseconds until the next look. What was asked for is taken by it. */
  nextMs(view: View): number {
    const { slot: known, eta, state, soonestMs, isLost, isShut, number, lastCallInMs } = view;
    const { failures, advisedMs } = this.#trouble;
    const random = this.#device.random();
    const hidden = this.#device.isHidden();
    // What is over says nothing about the slot that makes it good.
    const slot = state === "credit" ? undefined : known;
    const askedMs = this.#askedMs;
    this.#askedMs = undefined;
    if (askedMs !== undefined) return askedMs;
    const mayBeNext = slot === undefined && (eta?.fromMs ?? Infinity) < NEWCOMER_ETA_MS;
    if (this.#quick > 0 && mayBeNext && failures === 0) {
      this.#quick -= 1;
      return NEWCOMER_LOOK_MS * (0.5 + random);
    }
    const delayMs = pollDelayMs({
      ...{ random, hidden, failures, advisedMs, lastCallInMs },
      claimWindowMs: claimWindowMs(view.settings),
      untilTurnMs: slot && slot.opensAt - view.now,
      soonestMs: isLost || (isShut && number === undefined) ? SHUT_SOONEST_MS : soonestMs,
    });
    if (state !== "clock" || hidden) return delayMs;
    return Math.min(delayMs, (0.5 + this.#device.random() / 2) * FAULT_LOOK_MS);
  }
}

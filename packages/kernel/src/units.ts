/**
 * Branded numbers: the compiler keeps milliseconds, seconds and places in line apart.
 * Each constructor asserts what the brand promises.
 */
import { assert } from "./assert.ts";

declare const brand: unique symbol;
type Branded<Name extends string> = number & { readonly [brand]: Name };

/** Whole milliseconds since 1970-01-01T00:00:00Z. Segments and clocks use this. */
export type EpochMs = Branded<"EpochMs">;

/** Whole seconds since 1970-01-01T00:00:00Z. Token claims use this (RFC 7519 NumericDate, whole). */
export type EpochSeconds = Branded<"EpochSeconds">;

/** A place in line: 1, 2, 3 … */
export type TicketNumber = Branded<"TicketNumber">;

/** @throws AssertionError unless `value` is a whole number of milliseconds, 0 or later. */
export function epochMs(value: number): EpochMs {
  assert(Number.isSafeInteger(value) && value >= 0, "epoch milliseconds are a whole number >= 0");
  return value as EpochMs;
}

/** @throws AssertionError unless `value` is a whole number of seconds, 0 or later. */
export function epochSeconds(value: number): EpochSeconds {
  assert(Number.isSafeInteger(value) && value >= 0, "epoch seconds are a whole number >= 0");
  return value as EpochSeconds;
}

/** @throws AssertionError unless `value` is a whole number, 1 or higher. */
export function ticketNumber(value: number): TicketNumber {
  assert(Number.isSafeInteger(value) && value >= 1, "a ticket number is a whole number >= 1");
  return value as TicketNumber;
}

/**
 * The whole second that contains `at`. Every time rule compares whole seconds with `now + skew`,
 * and for whole claims and a whole skew the fraction of `now` never changes a verdict.
 */
export function toSeconds(at: EpochMs): EpochSeconds {
  return Math.floor(at / 1000) as EpochSeconds;
}

/** The first millisecond of a second. */
export function toMs(at: EpochSeconds): EpochMs {
  return (at * 1000) as EpochMs;
}

/** `at` moved by `deltaMs`, which may be negative. */
export function addMs(at: EpochMs, deltaMs: number): EpochMs {
  return epochMs(at + deltaMs);
}

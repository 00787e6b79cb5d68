import type { SeededRandomness } from "@vestibule/testkit/seeded-randomness";

/** How far a clock is off, in whole milliseconds, so long after the start. Never further than its tolerance. */
export type Wander = (sinceMs: number) => number;

const STEPS = 256;

/** A clock that is off by the same all the time. */
export function still(offMs: number): Wander {
  return () => offMs;
}

/** A clock that stands wrong, drifts from one end of the tolerance to the other, or steps to anywhere in it. */
export function wandering(random: SeededRandomness, toleranceMs: number): Wander {
  const anywhere = () => random.integer({ min: -toleranceMs, max: toleranceMs });
  const startsAt = anywhere();
  switch (random.integer({ min: 0, max: 2 })) {
    case 0:
      return still(startsAt);
    case 1: {
      // There and back again: a triangle.
      const wayMs = random.integer({ min: 200_000, max: 2_000_000 });
      const phase = random.integer({ min: 0, max: 2 * wayMs });
      return (sinceMs) => {
        const at = Math.abs((((sinceMs + phase) / wayMs) % 2) - 1);
        return Math.round((2 * at - 1) * toleranceMs);
      };
    }
    default: {
      const everyMs = random.integer({ min: 15_000, max: 180_000 });
      const steps = Array.from({ length: STEPS }, anywhere);
      return (sinceMs) => steps[Math.floor(sinceMs / everyMs) % STEPS] ?? startsAt;
    }
  }
}

/** What passes by bypass rules is counted, so that somebody sees when more passes than was meant to. */
import type { Passes } from "@vestibule/contracts/edges-api";
import {
  EVENTS_MAX,
  PASSES_COUNT_MAX,
  PASSES_PER_REPORT_MAX,
  ROUTES_PER_EVENT_MAX,
} from "@vestibule/contracts/limits";
import type { PassReport } from "@vestibule/feed/ports";

/** One rule of one event. */
export interface Exemption {
  readonly event: string;
  /** Its place among the event's rules, from 0. */
  readonly rule: number;
  /** It names methods: the origin must not take another one. */
  readonly isForMethod: boolean;
}

export interface Exempted extends PassReport {
  count(exemption: Exemption): void;
  /** By event: requests by each of its rules, since this isolate began. */
  all(): Readonly<Record<string, readonly number[]>>;
}

/** @param seen the location's own figures, where passes are one. */
export function createExempted(seen: { exempted: number }): Exempted {
  const counts = new Map<string, number[]>();
  /** What of them the mint has heard of. */
  const told = new Map<string, number[]>();
  return {
    count({ event, rule }) {
      seen.exempted += 1;
      // Events of former manifests do not pile up.
      if (counts.size >= EVENTS_MAX && !counts.has(event)) {
        counts.clear();
        told.clear();
      }
      // An event has no more rules than that; whatever a statement says, what is kept is bounded.
      if (rule < ROUTES_PER_EVENT_MAX) add(counts, { event, rule, count: 1 });
    },
    all: () => Object.fromEntries(counts),
    pending() {
      const passes: Passes[] = [];
      for (const [event, ofEvent] of counts) {
        for (const [rule, counted] of ofEvent.entries()) {
          const count = counted - (told.get(event)?.[rule] ?? 0);
          if (count > 0) passes.push({ event, rule, count: Math.min(count, PASSES_COUNT_MAX) });
          if (passes.length === PASSES_PER_REPORT_MAX) return passes;
        }
      }
      return passes;
    },
    heard(passes) {
      for (const { event, rule, count } of passes) {
        const counted = counts.get(event)?.[rule] ?? 0;
        const before = told.get(event)?.[rule] ?? 0;
        // A question that was given up as dead and answered after its follower told the same.
        add(told, { event, rule, count: Math.min(count, counted - before) });
      }
    },
  };
}

function add(counts: Map<string, number[]>, { event, rule, count }: Passes): void {
  const ofEvent = counts.get(event) ?? [];
  counts.set(event, ofEvent);
  while (ofEvent.length <= rule) ofEvent.push(0);
  ofEvent[rule] = (ofEvent[rule] ?? 0) + count;
}

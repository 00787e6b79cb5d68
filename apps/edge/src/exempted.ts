/** What passes by bypass rules is counted, so that somebody sees when more passes than was meant to. */
import { EVENTS_MAX } from "@vestibule/contracts/limits";

/** One rule of one event. */
export interface Exemption {
  readonly event: string;
  /** Its place among the event's rules, from 0. */
  readonly rule: number;
  /** It names methods: the origin must not take another one. */
  readonly isForMethod: boolean;
}

export interface Exempted {
  count(exemption: Exemption): void;
  /** By event: requests by each of its rules, since this isolate began. */
  all(): Readonly<Record<string, readonly number[]>>;
}

export function createExempted(): Exempted {
  const counts = new Map<string, number[]>();
  return {
    count({ event, rule }) {
      let ofEvent = counts.get(event);
      if (ofEvent === undefined) {
        // Events of former manifests do not pile up.
        if (counts.size >= EVENTS_MAX) counts.clear();
        ofEvent = [];
        counts.set(event, ofEvent);
      }
      while (ofEvent.length <= rule) ofEvent.push(0);
      ofEvent[rule] = (ofEvent[rule] ?? 0) + 1;
    },
    all: () => Object.fromEntries(counts),
  };
}

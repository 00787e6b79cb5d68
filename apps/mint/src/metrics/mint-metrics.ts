/**
 * What the mint tells Prometheus: read when it is asked for, from what there is anyway. Nothing here asks PostgreSQL.
 * Labels are bounded: rows of locations by the table, events by `EVENTS_MAX`.
 */
import type { ClockEstimate } from "@vestibule/contracts/edges-api";
import { rateAt } from "@vestibule/drip/rate-plan";
import { KEY_USES } from "@vestibule/keys/public-key";
import type { KeyState } from "@vestibule/keys/rotation";
import { Counter, Gauge, Registry } from "@prometheus-io/client";
import type { Edges } from "../edges/edges.ts";
import type { LineTerm } from "../lead/line-term.ts";
import { stateAt } from "../line/event-state.ts";
import type { StoredKeys } from "../store/store.ts";

export interface MintFacts {
  readonly edges: Edges;
  readonly keys: () => StoredKeys;
  /** The present term; `undefined` in a standby. */
  readonly term: () => Pick<LineTerm, "lead" | "events"> | undefined;
}

export interface MintMetrics {
  readonly contentType: string;
  /** The text format of Prometheus. */
  text(): Promise<string>;
}

const KEY_STATES: readonly KeyState[] = ["staged", "signing", "retiring", "retired", "revoked"];

/** With a registry of its own: several mints in one process do not meet. */
export function mintMetrics(facts: MintFacts): MintMetrics {
  const registry = new Registry();
  addClocks(registry, facts);
  addKeys(registry, facts);
  addEvents(registry, facts);
  return { contentType: registry.contentType, text: () => registry.metrics() };
}

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

interface Described {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  readonly read: () => readonly Sample[];
}

function gauge(registry: Registry, { read, ...described }: Described): void {
  const collect = (): void => fill(made, read());
  const made: Gauge<string> = new Gauge({ ...described, registers: [registry], collect });
}

function counter(registry: Registry, { read, ...described }: Described): void {
  const collect = (): void => fill(made, read());
  const made: Counter<string> = new Counter({ ...described, registers: [registry], collect });
}

/** What is not among `samples` is not there: an unknown value is no 0. */
function fill(made: Gauge<string> | Counter<string>, samples: readonly Sample[]): void {
  made.reset();
  made.remove({});
  for (const [labels, value] of samples) made.inc(labels, value);
}

const seconds = (ms: number): number => ms / 1_000;

function addClocks(registry: Registry, { edges, term }: MintFacts): void {
  const { own, table, desk, moment } = edges;
  const ofOwn = (read: (estimate: ClockEstimate) => number) => (): Sample[] =>
    own.estimate === undefined ? [] : [[{}, seconds(read(own.estimate))]];
  gauge(registry, {
    name: "vestibule_mint_clock_offset_seconds",
    help: "This mint's clock less its PostgreSQL's; absent while PostgreSQL does not answer",
    read: ofOwn(({ offsetMs }) => offsetMs),
  });
  gauge(registry, {
    name: "vestibule_mint_clock_uncertainty_seconds",
    help: "The offset is surely that, give or take this",
    read: ofOwn(({ uncertaintyMs }) => uncertaintyMs),
  });
  gauge(registry, {
    name: "vestibule_mint_clock_state",
    help: "1 for the state of this mint's clock: unknown, good, warn, wrong",
    labelNames: ["state"],
    read: () => [[{ state: own.state }, 1]],
  });

  const rows = () => (term() === undefined ? [] : table.rows(moment().monotonicMs));
  const ofRows = (read: (estimate: ClockEstimate) => number) => (): Sample[] =>
    rows().flatMap(({ row: { location, sender, estimate } }) =>
      estimate === undefined ? [] : [[{ location, sender }, seconds(read(estimate))] as const],
    );
  const labelNames = ["location", "sender"];
  gauge(registry, {
    name: "vestibule_edge_clock_offset_seconds",
    help: "A location's clock less the mint's, as it last said",
    labelNames,
    read: ofRows(({ offsetMs }) => offsetMs),
  });
  gauge(registry, {
    name: "vestibule_edge_clock_uncertainty_seconds",
    help: "The offset is surely that, give or take this",
    labelNames,
    read: ofRows(({ uncertaintyMs }) => uncertaintyMs),
  });
  gauge(registry, {
    name: "vestibule_edge_clock_state",
    help: "1 for the worst that the mint makes of a location's reports of the last minute: unknown, good, warn, wrong",
    labelNames: [...labelNames, "state"],
    read: () =>
      rows().map(({ row: { location, sender }, alarm }) => [{ location, sender, state: alarm }, 1]),
  });
  gauge(registry, {
    name: "vestibule_edge_keys_seq",
    help: "Number of the key set that a location has, as it last said",
    labelNames,
    read: () =>
      rows().flatMap(({ row: { location, sender, keysSeq } }) =>
        keysSeq === undefined ? [] : [[{ location, sender }, keysSeq] as const],
      ),
  });
  counter(registry, {
    name: "vestibule_edge_passes_total",
    help: "Requests that passed without a place, by the event's bypass rule, as a location has told since its row began",
    labelNames: [...labelNames, "event", "rule"],
    read: () =>
      rows().flatMap(({ row: { location, sender, passes = [] } }) =>
        passes.map(({ event, rule, count }): Sample => {
          return [{ location, sender, event, rule: String(rule) }, count];
        }),
      ),
  });
  gauge(registry, {
    name: "vestibule_edges",
    help: "Rows of locations that reported within ten minutes",
    read: () => [[{}, rows().length]],
  });
  counter(registry, {
    name: "vestibule_edges_turned_away_total",
    help: "Reports of new senders that found no room",
    read: () => [[{}, table.turnedAway]],
  });
  counter(registry, {
    name: "vestibule_clock_questions_total",
    help: "Questions for the time, by how they ended",
    labelNames: ["outcome"],
    read: () => Object.entries(desk.counts).map(([outcome, count]) => [{ outcome }, count]),
  });
}

function addKeys(registry: Registry, { keys, term }: MintFacts): void {
  gauge(registry, {
    name: "vestibule_keys_seq",
    help: "Number of the key set that this mint publishes",
    read: () => [[{}, keys().seq]],
  });
  gauge(registry, {
    name: "vestibule_keys",
    help: "Keys by use and state, as stored; of those that are over, the latest",
    labelNames: ["use", "state"],
    read: () =>
      KEY_USES.flatMap((use) =>
        KEY_STATES.map((state): Sample => {
          const count = keys().keys.filter((key) => key.use === use && key.state === state).length;
          return [{ use, state }, count];
        }),
      ),
  });
  gauge(registry, {
    name: "vestibule_mint_leading",
    help: "1 while this mint leads, 0 in a standby",
    read: () => [[{}, term() === undefined ? 0 : 1]],
  });
  gauge(registry, {
    name: "vestibule_mint_epoch",
    help: "Number of this mint's leadership; absent in a standby",
    read: () => {
      const epoch = term()?.lead.epoch;
      return epoch === undefined ? [] : [[{}, epoch]];
    },
  });
}

function addEvents(registry: Registry, { edges, term }: MintFacts): void {
  type Entry = LineTerm["events"][number];
  const ofEvents = (name: string, help: string, read: (entry: Entry) => number): void =>
    gauge(registry, {
      name,
      help,
      labelNames: ["event"],
      read: () => (term()?.events ?? []).map((entry) => [{ event: entry.line.event }, read(entry)]),
    });
  ofEvents("vestibule_event_issued", "People who were given a number", ({ line }) =>
    line.issuedCount(),
  );
  ofEvents(
    "vestibule_event_committed",
    "Numbers are committed up to here",
    ({ line }) => line.record.progress.line.nextNumber - 1,
  );
  ofEvents(
    "vestibule_event_rate_per_minute",
    "Slots a minute at this moment, as set",
    ({ line }) => rateAt(line.record.settings, edges.moment().now).ratePerMinute,
  );
  ofEvents(
    "vestibule_event_failing",
    "1 while the drip stands still for a fault of the mint's own",
    ({ failingSince }) => (failingSince === undefined ? 0 : 1),
  );
  gauge(registry, {
    name: "vestibule_event_state",
    help: "1 for the state of an event",
    labelNames: ["event", "state"],
    read: () =>
      (term()?.events ?? []).map(({ line }) => [
        { event: line.event, state: stateAt(line.record, edges.moment().now) },
        1,
      ]),
  });
}

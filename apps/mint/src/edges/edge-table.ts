/**
 * What locations say of their clocks. Nobody is authenticated, so a row belongs to a name and a sender: whoever lies
 * spoils rows of their own. Bounded, and in memory alone; newcomers never drive out a row that is there.
 */
import type { ClockReport, ClockState, EdgeRow, Passes } from "@vestibule/contracts/edges-api";
import { judgeClock } from "@vestibule/feed/judge-clock";
import type { EpochMs } from "@vestibule/kernel/units";
import { EDGE_PASSES_PER_ROW_MAX } from "../limits.ts";

export interface EdgeTableOptions {
  readonly rowsMax: number;
  readonly rowsPerSenderMax: number;
  /** A row without a report for so long is gone. */
  readonly silentMs: number;
  /** An alarm ends when no report was as bad for so long; a measure counts for so long. */
  readonly calmMs: number;
}

export interface Heard {
  readonly location: string;
  readonly sender: string;
  readonly report: Omit<ClockReport, "nonce" | "passes">;
}

/** The mint's clock for what is shown, and one that is never set for how long ago something was. */
export interface Moment {
  readonly now: EpochMs;
  readonly monotonicMs: number;
}

export interface WatchedRow {
  readonly row: EdgeRow;
  /** The mint's own judgement of what the row says, and said lately. */
  readonly alarm: ClockState;
}

/** A row's alarm begins, changes or ends. */
export interface AlarmChange extends WatchedRow {
  readonly before: ClockState;
}

interface Entry {
  row: EdgeRow;
  heardAt: number;
  /** When its estimate was reported. */
  measuredAt: number;
  alarm: ClockState;
  alarmAt: number;
}

const SEVERITY = { unknown: 0, good: 0, warn: 1, wrong: 2 } as const;

export class EdgeTable {
  readonly #options: EdgeTableOptions;
  /** By location and sender, the one that was silent for longest first. */
  readonly #entries = new Map<string, Entry>();
  readonly #rowsOf = new Map<string, number>();
  #turnedAway = 0;

  constructor(options: EdgeTableOptions) {
    this.#options = options;
  }

  /** Reports of new senders that found no room. */
  get turnedAway(): number {
    return this.#turnedAway;
  }

  /** @returns what became of the report, with a change of the row's alarm if it is one. */
  hear(heard: Heard, at: Moment): { readonly kept: boolean; readonly change?: AlarmChange } {
    this.#forgetSilent(at.monotonicMs);
    const { sender } = heard;
    const key = keyOf(heard);
    const known = this.#entries.get(key);
    if (known === undefined && !this.#hasRoomFor(sender)) {
      this.#turnedAway += 1;
      return { kept: false };
    }
    const before = known?.alarm ?? "unknown";
    const entry = this.#entry(heard, at, known);
    if (known === undefined) this.#rowsOf.set(sender, (this.#rowsOf.get(sender) ?? 0) + 1);
    // Put last again: the order is that of the last reports.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    const { row, alarm } = entry;
    return SEVERITY[alarm] === SEVERITY[before]
      ? { kept: true }
      : { kept: true, change: { row, alarm, before } };
  }

  /** Adds to what a row has said before, if it is there. */
  addPasses(of: Pick<Heard, "location" | "sender">, passes: readonly Passes[]): void {
    const entry = this.#entries.get(keyOf(of));
    if (entry === undefined || passes.length === 0) return;
    const sums = (entry.row.passes ?? []).map((each) => ({ ...each }));
    for (const { event, rule, count } of passes) {
      const known = sums.find((each) => each.event === event && each.rule === rule);
      if (known !== undefined) known.count = Math.min(known.count + count, Number.MAX_SAFE_INTEGER);
      else if (sums.length < EDGE_PASSES_PER_ROW_MAX) sums.push({ event, rule, count });
    }
    entry.row = { ...entry.row, passes: sums };
  }

  /** In no order to rely on. */
  rows(monotonicMs: number): readonly WatchedRow[] {
    this.#forgetSilent(monotonicMs);
    return [...this.#entries.values()];
  }

  /** What is shown: by location, then by sender. */
  shown(monotonicMs: number): readonly EdgeRow[] {
    this.#forgetSilent(monotonicMs);
    return [...this.#entries]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([, { row }]) => row);
  }

  /** An isolate that has just started knows nothing yet: that hides nothing of what others of its row said. */
  #entry({ location, sender, report }: Heard, at: Moment, known: Entry | undefined): Entry {
    const { now, monotonicMs } = at;
    const isMeasured = report.estimate !== undefined;
    const isKept =
      !isMeasured &&
      known?.row.estimate !== undefined &&
      monotonicMs - known.measuredAt < this.#options.calmMs;
    const { state, estimate } = isKept ? known.row : report;
    const keysSeq = report.keysSeq ?? known?.row.keysSeq;
    const passes = known?.row.passes;
    const keysSeqAt = (keysSeq === known?.row.keysSeq ? known?.row.keysSeqAt : undefined) ?? now;
    const row: EdgeRow = {
      ...{ location, sender, state, skewSeconds: report.skewSeconds, reportedAt: now },
      ...(estimate === undefined ? {} : { estimate }),
      ...(keysSeq === undefined ? {} : { keysSeq, keysSeqAt }),
      ...(passes === undefined ? {} : { passes }),
    };
    return {
      row,
      heardAt: monotonicMs,
      measuredAt: isMeasured || known === undefined ? monotonicMs : known.measuredAt,
      ...this.#alarm(judgeClock(report.estimate, report.skewSeconds), monotonicMs, known),
    };
  }

  #alarm(
    judged: ClockState,
    monotonicMs: number,
    known: Entry | undefined,
  ): Pick<Entry, "alarm" | "alarmAt"> {
    const alarm = { alarm: judged, alarmAt: monotonicMs };
    if (known === undefined) return alarm;
    const before = { alarm: known.alarm, alarmAt: known.alarmAt };
    // Not knowing is no all-clear, and one good isolate says nothing about the bad one beside it.
    if (judged === "unknown" && SEVERITY[known.alarm] > 0) return before;
    const isCalm = monotonicMs - known.alarmAt >= this.#options.calmMs;
    const isAsBad = judged !== "unknown" && SEVERITY[judged] >= SEVERITY[known.alarm];
    return isAsBad || isCalm ? alarm : before;
  }

  #hasRoomFor(sender: string): boolean {
    const { rowsMax, rowsPerSenderMax } = this.#options;
    return this.#entries.size < rowsMax && (this.#rowsOf.get(sender) ?? 0) < rowsPerSenderMax;
  }

  #forgetSilent(monotonicMs: number): void {
    for (const [key, { row, heardAt }] of this.#entries) {
      if (monotonicMs - heardAt < this.#options.silentMs) return;
      this.#entries.delete(key);
      const left = (this.#rowsOf.get(row.sender) ?? 1) - 1;
      if (left === 0) this.#rowsOf.delete(row.sender);
      else this.#rowsOf.set(row.sender, left);
    }
  }
}

function keyOf({ location, sender }: Pick<Heard, "location" | "sender">): string {
  return `${location} ${sender}`;
}

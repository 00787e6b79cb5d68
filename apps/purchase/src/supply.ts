/**
 * Whether anything is left of each event, for how long and about how much, as one sequence over all instances. The only
 * code that touches `supply`.
 *
 * The mint ignores whatever is not above the last `seq` that it heard. A failover may lose the commits that made
 * the last ones, so that they are made from PostgreSQL's clock: a lost one is always passed.
 */
import type { SupplyReport } from "@vestibule/contracts/supply-api";
import type { Database, Sql } from "@vestibule/db/connect";
import { bandOf } from "@vestibule/drip/band";

/** A report that the mint has not acknowledged yet, at least not all of it. */
export interface PendingReport extends SupplyReport {
  readonly event: string;
  readonly lastCall: boolean;
  /** What a mint that does not know all of it has heard already. */
  readonly soldOutHeard: boolean;
  readonly lastCallHeard: boolean;
}

/** How much of a report a mint took: one that knows no `left` takes it up to the last call, one from before that sold out alone. */
export type Heard = "all" | "last-call" | "sold-out";

/** The stock of one event as it is, and what the mint was told of it. */
export interface SupplyLevel {
  readonly event: string;
  /** Pieces of all skus that are neither sold nor held, and those that are. */
  readonly left: number;
  readonly taken: number;
  /** A band of what is not sold, held or not: what those who wait may hope for. */
  readonly unsold: number;
  readonly soldOut: boolean;
  readonly told: {
    readonly soldOut: boolean;
    readonly lastCall: boolean;
    readonly unsold: number | undefined;
  };
  /** Since that changed, by PostgreSQL's clock; 0 where nothing was ever told. */
  readonly toldForMs: number;
  /** What of it the mint has not acknowledged. */
  readonly unheard: {
    readonly soldOut: boolean;
    readonly lastCall: boolean;
    readonly unsold: boolean;
  };
  /** Whether there ever was anything to tell. */
  readonly wasTold: boolean;
}

export interface Supply {
  /** Those of `events` that have stock. */
  levels(events: readonly string[]): Promise<readonly SupplyLevel[]>;
  /**
   * Looks at the stock, writes down a change, and says what is to be reported.
   *
   * @param options.lastCall whether what is left may be gone soon; absent: as it is written down. Nothing left is a last call
   * @param options.again also what was acknowledged
   */
  look(
    event: string,
    options?: { readonly lastCall?: boolean | undefined; readonly again?: boolean },
  ): Promise<PendingReport | undefined>;
  acknowledge(report: PendingReport, heard: Heard): Promise<void>;
}

/** Of what the mint believes without being told. */
const FIRST_SEQ = 1;

interface Row {
  readonly soldOut: boolean;
  readonly lastCall: boolean;
  readonly seq: number;
  readonly acked: number;
  readonly lastCallAcked: number;
  readonly unitsLeft: number | null;
  readonly leftAcked: number;
}

export function createSupply(database: Database): Supply {
  return {
    levels: (events) => database.run((sql) => levelsOf(sql, events)),
    look: (event, { lastCall, again = false } = {}) =>
      database.transaction(async (tx) => {
        // A new row says what the mint believes without being told.
        await tx`
          insert into supply (event, sold_out, seq, acked_seq, last_call_acked_seq, left_acked_seq)
          values (${event}, false, ${FIRST_SEQ}, ${FIRST_SEQ}, ${FIRST_SEQ}, ${FIRST_SEQ})
          on conflict do nothing`;
        const columns = tx`
          supply.sold_out as "soldOut", last_call as "lastCall", seq, acked_seq as acked,
          last_call_acked_seq as "lastCallAcked", units_left as "unitsLeft",
          left_acked_seq as "leftAcked"`;
        const [told] = await tx<Row[]>`
          select ${columns} from supply where event = ${event} for no key update`;
        // After the row's lock: this transaction's look at the stock is the latest one.
        const [stock] = await tx<{ soldOut: boolean; unsold: number | null }[]>`
          select coalesce(bool_and(total - sold - held <= 0), false) as "soldOut",
                 sum(total - sold) as unsold
            from stock where event = ${event}`;
        const isOut = stock?.soldOut ?? false;
        const isLast = isOut || (lastCall ?? told?.lastCall ?? false);
        const unsold = stock?.unsold ?? null;
        const band = unsold === null ? (told?.unitsLeft ?? null) : bandOf(unsold);
        const [change] = await tx<Row[]>`
          update supply
             set sold_out = ${isOut}, last_call = ${isLast}, units_left = ${band},
                 seq = greatest(seq + 1, (extract(epoch from clock_timestamp()) * 1000)::bigint)
           where event = ${event}
             and (sold_out, last_call, units_left) is distinct from (${isOut}, ${isLast}, ${band}::bigint)
          returning ${columns}`;
        const row = change ?? told;
        if (row === undefined) return undefined;
        const { soldOut, lastCall: isLastCall, unitsLeft, seq } = row;
        const left = unitsLeft === null ? {} : { left: unitsLeft };
        const heard = { soldOutHeard: row.acked >= seq, lastCallHeard: row.lastCallAcked >= seq };
        const isHeard = heard.soldOutHeard && heard.lastCallHeard && row.leftAcked >= seq;
        if (isHeard && !(again && seq > FIRST_SEQ)) return undefined;
        return { event, soldOut, lastCall: isLastCall, ...left, seq, ...heard };
      }),
    acknowledge: ({ event, seq }, heard) =>
      database.run(async (sql) => {
        const lastCallSeq = heard === "sold-out" ? 0 : seq;
        const leftSeq = heard === "all" ? seq : 0;
        await sql`
          update supply
             set acked_seq = greatest(acked_seq, ${seq}::bigint),
                 last_call_acked_seq = greatest(last_call_acked_seq, ${lastCallSeq}::bigint),
                 left_acked_seq = greatest(left_acked_seq, ${leftSeq}::bigint)
           where event = ${event} and (acked_seq < ${seq} or last_call_acked_seq < ${lastCallSeq}
                                       or left_acked_seq < ${leftSeq})`;
      }),
  };
}

interface LevelRow {
  readonly event: string;
  readonly left: number;
  readonly taken: number;
  readonly unsold: number;
  readonly soldOut: boolean;
  readonly toldSoldOut: boolean;
  readonly toldLastCall: boolean;
  readonly toldForMs: number;
  readonly soldOutUnheard: boolean;
  readonly lastCallUnheard: boolean;
  readonly toldUnsold: number | null;
  readonly unsoldUnheard: boolean;
  readonly wasTold: boolean;
}

async function levelsOf(sql: Sql, events: readonly string[]): Promise<readonly SupplyLevel[]> {
  const rows = await sql<LevelRow[]>`
    select s.event, s.remaining as left, s.taken, s.unsold, s.sold_out as "soldOut",
           coalesce(supply.sold_out, false) as "toldSoldOut",
           coalesce(supply.last_call, false) as "toldLastCall",
           supply.units_left as "toldUnsold",
           coalesce((extract(epoch from clock_timestamp()) * 1000)::bigint - seq, 0) as "toldForMs",
           coalesce(acked_seq < seq, false) as "soldOutUnheard",
           coalesce(last_call_acked_seq < seq, false) as "lastCallUnheard",
           coalesce(left_acked_seq < seq, false) as "unsoldUnheard",
           coalesce(seq > ${FIRST_SEQ}, false) as "wasTold"
      from (select event, sum(total - sold - held) as remaining, sum(sold + held) as taken,
                   sum(total - sold) as unsold,
                   bool_and(total - sold - held <= 0) as sold_out
              from stock where event in (select jsonb_array_elements_text(${sql.json([...events])}))
             group by event) s
      left join supply on supply.event = s.event
     order by s.event`;
  return rows.map((row) => {
    const { event, left, taken, soldOut, toldForMs, wasTold } = row;
    return {
      ...{ event, left, taken, soldOut, toldForMs, wasTold, unsold: bandOf(row.unsold) },
      told: {
        soldOut: row.toldSoldOut,
        lastCall: row.toldLastCall,
        unsold: row.toldUnsold ?? undefined,
      },
      unheard: {
        soldOut: row.soldOutUnheard,
        lastCall: row.lastCallUnheard,
        unsold: row.unsoldUnheard,
      },
    };
  });
}

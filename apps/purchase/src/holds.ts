/** Holds after they began (`ledger.ts` begins them): who may do what to them, and what they became. */
import type { CallOptions, Database, Sql } from "@vestibule/db/connect";
import { sleep as realSleep } from "@vestibule/feed/fetch-text.system";
import type { Sleep } from "@vestibule/feed/ports";
import { epochSeconds } from "@vestibule/kernel/units";
import type { Admitted } from "./admit.ts";
import { confirmHold, endHold, expireHolds, extendHold } from "./holds-write.ts";
import { retried } from "./ledger-retry.ts";
import {
  type HoldRow,
  holdColumns,
  type OrderRow,
  orderColumns,
  toHold,
  toOrder,
} from "./ledger-rows.ts";
import type { CameBack, Hold, HoldActor, HoldName, HoldRefusal, Holds } from "./ledger-types.ts";
import { SWEEP_HOLDS_MAX, SWEEP_SKUS_MAX, SWEEP_STATEMENTS_MAX } from "./limits.ts";

/**
 * @param options.reads Connections for what anybody may look at, apart from those that sell; the same ones without it.
 * @param options.sleep Only tests need another one.
 */
export function createHolds(
  database: Database,
  {
    cameBack,
    reads = database,
    sleep = realSleep,
  }: { cameBack: CameBack; reads?: Database; sleep?: Sleep },
): Holds {
  const runOn = <Value>(
    connections: Database,
    work: (sql: Sql) => Promise<Value>,
    options: CallOptions = {},
  ): Promise<Value> =>
    connections.run((sql, stopIfLate) => retried(() => work(sql), { sleep, stopIfLate }), options);
  /** Which sku's row it may wait for is not known before the hold is found. */
  const change = <Value>({ event }: HoldName, work: (sql: Sql) => Promise<Value>): Promise<Value> =>
    runOn(database, work, { key: `holds of ${event}` });
  /** Also told when an earlier call ended it: that one's process may have died before it could. */
  const told = ({ event, sku }: Hold): void => cameBack({ event, sku });

  return {
    get: (of) =>
      runOn(of.by.kind === "shop" ? database : reads, async (sql) =>
        toHoldOrNothing(await find(sql, of, of.by)),
      ),

    extend: ({ visitor, ...of }) =>
      change(of, async (sql) => {
        const extended = await extendHold(sql, of, visitor);
        if (extended !== undefined) return { kind: "done", hold: toHold(extended) };
        const row = await find(sql, of, { kind: "buyer", visitor });
        if (row === undefined) return { kind: "no-such-hold" };
        // Asked again, perhaps because the first answer was lost: the same answer.
        const was = row.state === "held" && row.extended;
        return was ? { kind: "done", hold: toHold(row) } : refusalOf(row);
      }),

    confirm: ({ paymentReference, orderId, now, ...of }) =>
      change(of, async (sql) => {
        const order = await confirmHold(sql, of, { paymentReference, orderId, now });
        if (order !== undefined) return { kind: "confirmed", order: toOrder(order) };
        const row = await find(sql, of, { kind: "shop" });
        if (row === undefined) return { kind: "no-such-hold" };
        if (row.state === "confirmed" && row.paymentReference === paymentReference) {
          const [earlier] = await sql<OrderRow[]>`
            select ${orderColumns(sql)} from orders where order_id = ${row.orderId}`;
          if (earlier !== undefined) return { kind: "confirmed", order: toOrder(earlier) };
        }
        return refusalOf(row);
      }),

    cancel: async ({ by, ...of }) => {
      const outcome = await change(of, async (sql) => {
        await endHold(sql, of, { state: "cancelled", by });
        const row = await find(sql, of, by);
        if (row === undefined) return { kind: "no-such-hold" } as const;
        if (row.state !== "cancelled") return refusalOf(row);
        return { kind: "done", hold: toHold(row) } as const;
      });
      if (outcome.kind === "done") told(outcome.hold);
      return outcome;
    },

    fail: async (of) => {
      const outcome = await change(of, async (sql) => {
        const by = { kind: "shop" } as const;
        await endHold(sql, of, { state: "failed", by });
        const row = await find(sql, of, by);
        if (row === undefined) return { kind: "no-such-hold" } as const;
        if (row.state !== "failed") return refusalOf(row);
        return { kind: "done", hold: toHold(row), unspent: subjectOf(row) } as const;
      });
      if (outcome.kind === "done") told(outcome.hold);
      return outcome;
    },

    sweep: async () => {
      const due = await runOn(
        database,
        (sql) => sql<{ event: string; sku: string }[]>`
          select distinct event, sku from holds
           where state = 'held' and expires_at <= now() limit ${SWEEP_SKUS_MAX}`,
      );
      let ended = 0;
      for (const { event, sku } of due) {
        for (let statements = 1; ; statements += 1) {
          const count = await runOn(database, (sql) => expireHolds(sql, { event, sku }));
          ended += count;
          // Also when the count is 0: the answer that had it may have been lost.
          cameBack({ event, sku });
          if (count < SWEEP_HOLDS_MAX || statements >= SWEEP_STATEMENTS_MAX) break;
        }
      }
      return ended;
    },
  };
}

interface FoundRow extends HoldRow {
  readonly extended: boolean;
  readonly paymentReference: string | null;
  readonly visitor: string;
  readonly slot: number;
}

/** A statement of its own sees what the one before it waited for. */
async function find(sql: Sql, of: HoldName, by: HoldActor): Promise<FoundRow | undefined> {
  const [row] = await sql<FoundRow[]>`
    select ${holdColumns(sql)}, extended, payment_reference as "paymentReference", visitor, slot
      from holds where hold_id = ${of.holdId} and event = ${of.event}`;
  return row === undefined || (by.kind === "buyer" && by.visitor !== row.visitor) ? undefined : row;
}

function toHoldOrNothing(row: HoldRow | undefined): Hold | undefined {
  return row && toHold(row);
}

function refusalOf({ state }: HoldRow): HoldRefusal {
  return state === "expired" ? { kind: "over" } : { kind: "conflict", state };
}

function subjectOf({ event, visitor, jti, number, slot }: FoundRow): Admitted {
  return { event, visitor, jti, number, slot: epochSeconds(slot) };
}

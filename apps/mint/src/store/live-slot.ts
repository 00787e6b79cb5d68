import type { Sql, Transaction } from "@vestibule/db/connect";

/** Columns that hold a number, beside a segment `s` that contains it. */
type NumberColumn = "a.n" | "c.n" | "s.n";

/** SQL: when the slot of the number in column `n` opens, epoch milliseconds: the same sum as `opensAt` of packages/drip. */
export function opensAt(sql: Sql | Transaction, n: NumberColumn): ReturnType<Sql> {
  return sql`(s.from_ms + floor((${sql(n)} - s.base) * (s.until_ms - s.from_ms)::numeric / s.count))`;
}

/** SQL: is that slot one that no hold has cut? */
export function isLiveSlot(sql: Sql | Transaction, n: NumberColumn): ReturnType<Sql> {
  return sql`(s.cut_after_ms is null or ${opensAt(sql, n)} <= s.cut_after_ms)`;
}

import type { Sql, Transaction } from "@vestibule/db/connect";

/**
 * SQL: is the slot of the number in column `n` one that no hold has cut? For a segment `s` that
 * contains it: the same sum as `opensAt` of packages/drip.
 */
export function isLiveSlot(sql: Sql | Transaction, n: "a.n" | "c.n"): ReturnType<Sql> {
  return sql`(s.cut_after_ms is null
    or s.from_ms + floor((${sql(n)} - s.base) * (s.until_ms - s.from_ms)::numeric / s.count) <= s.cut_after_ms)`;
}

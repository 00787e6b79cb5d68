import type { Database } from "@vestibule/db/connect";
import { CLOCK_LOOK_DEADLINE_MS } from "../limits.ts";

/**
 * PostgreSQL's clock, whole epoch milliseconds (rounded down): of the moment, not of a transaction's begin.
 *
 * @throws AppError `unavailable`.
 */
export async function readDatabaseClock(database: Database): Promise<number> {
  const [row] = await database.run(
    (sql) => sql<{ at: number }[]>`
      select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as at`,
    { deadlineMs: CLOCK_LOOK_DEADLINE_MS },
  );
  if (row === undefined) throw new Error("a question without an answer");
  return row.at;
}

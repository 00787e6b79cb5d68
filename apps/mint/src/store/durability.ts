import type { Database } from "@vestibule/db/connect";

/** Settings of PostgreSQL, as it says them to our connections. */
export interface Durability {
  readonly fsync: string;
  readonly synchronousCommit: string;
  readonly synchronousStandbyNames: string;
}

/** @throws AppError `unavailable`. */
export async function readDurability(database: Database): Promise<Durability> {
  const [row] = await database.run(
    (sql) => sql<Durability[]>`
      select current_setting('fsync') as "fsync",
             current_setting('synchronous_commit') as "synchronousCommit",
             current_setting('synchronous_standby_names') as "synchronousStandbyNames"`,
  );
  if (row === undefined) throw new Error("a question without an answer");
  return row;
}

/**
 * Why an answer of this PostgreSQL may be undone by the loss of one machine, in words for its operator; empty: by nothing that
 * it says of itself. A managed server that copies its disk may be as safe without a standby of this kind.
 */
export function whyItMayForget(settings: Durability): readonly string[] {
  const { fsync, synchronousCommit, synchronousStandbyNames } = settings;
  const reasons: string[] = [];
  if (fsync === "off") reasons.push("fsync = off: a crash of the machine loses commits");
  if (synchronousStandbyNames === "") {
    reasons.push("synchronous_standby_names is empty: a failover loses what the replica lacks");
  } else if (synchronousCommit === "local") {
    reasons.push("synchronous_commit = local: no commit waits for the synchronous standby");
  }
  return reasons;
}

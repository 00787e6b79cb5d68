import type { Database } from "@vestibule/db/connect";
import { claimRepository } from "./claim-repository.ts";
import { eventRepository } from "./event-repository.ts";
import { keyRepository } from "./key-repository.ts";
import { leaseRepository } from "./lease-repository.ts";
import { stepRepository } from "./step-repository.ts";
import type { MintStore } from "./store.ts";

/** Where the migrations of the mint are, for `migrate`. */
export const MIGRATIONS = {
  namespace: "mint",
  directory: new URL("../migrations/", import.meta.url),
} as const;

export function postgresStore(database: Database): MintStore {
  return {
    isUp: () => database.isUp(),
    ...leaseRepository(database),
    ...eventRepository(database),
    ...stepRepository(database),
    ...claimRepository(database),
    ...keyRepository(database),
  };
}

/**
 * Refuses a database that answers a commit before it is on disk: a grant could be lost and repeated.
 *
 * @throws Error that says what to do.
 */
export async function assertSynchronousCommit(database: Database): Promise<void> {
  const [row] = await database.run(
    (sql) => sql<{ value: string }[]>`
    select current_setting('synchronous_commit') as value`,
  );
  if (row?.value !== "off") return;
  throw new Error(
    "PostgreSQL runs with synchronous_commit = off: turn it on, or a crash repeats numbers",
  );
}

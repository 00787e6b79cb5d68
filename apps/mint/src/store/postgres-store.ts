import type { Database } from "@vestibule/db/connect";
import { archiveRepository } from "./archive-repository.ts";
import { claimRepository } from "./claim-repository.ts";
import { eventRepository } from "./event-repository.ts";
import { keyRepository } from "./key-repository.ts";
import { leaseRepository } from "./lease-repository.ts";
import { premintRepository } from "./premint-repository.ts";
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
    ...premintRepository(database),
    ...archiveRepository(database),
    ...stepRepository(database),
    ...claimRepository(database),
    ...keyRepository(database),
  };
}

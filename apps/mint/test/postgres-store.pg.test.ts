import { connectDatabase, type Database } from "@vestibule/db/connect";
import { migrate } from "@vestibule/db/migrate";
import { freshDatabase } from "@vestibule/testkit/fresh-database";
import { afterAll, beforeAll, describe } from "vitest";
import { MIGRATIONS, postgresStore } from "../src/store/postgres-store.ts";
import { creditConformance } from "./support/credit-conformance.ts";
import { archiveConformance } from "./support/archive-conformance.ts";
import { premintConformance } from "./support/premint-conformance.ts";
import { storeConformance } from "./support/store-conformance.ts";

describe("the store in PostgreSQL", () => {
  let database: Database;

  beforeAll(async () => {
    database = connectDatabase({ url: await freshDatabase(), applicationName: "test" });
    await migrate(database, MIGRATIONS);
  });
  afterAll(() => database.close());

  const make = async () => ({
    store: postgresStore(database),
    expireLease: async () => {
      await database.sql`update lease set expires_at = now() - interval '1 second'`;
    },
    // What a replica's row says once it was promoted: an older timeline than the server's.
    promote: async () => {
      const [row] = await database.sql<{ history: string }[]>`select history from lease`;
      const [server, timeline] = (row?.history ?? "/").split("/");
      await database.sql`update lease set history = ${`${server}/${Number(timeline) - 1}`}`;
    },
  });
  storeConformance(make);
  creditConformance(make);
  premintConformance(make);
  archiveConformance(make);
});

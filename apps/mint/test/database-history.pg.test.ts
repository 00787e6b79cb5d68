/** What the mint may ask PostgreSQL about itself, and what it makes of the answers. ADR 16. */
import { connectDatabase, type Database } from "@vestibule/db/connect";
import { migrate } from "@vestibule/db/migrate";
import { silentLog } from "@vestibule/service/log";
import { freshDatabase } from "@vestibule/testkit/fresh-database";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EPOCHS_PER_HISTORY } from "../src/limits.ts";
import { readDurability, whyItMayForget } from "../src/store/durability.ts";
import { MIGRATIONS, postgresStore } from "../src/store/postgres-store.ts";
import { localMint } from "./support/service.ts";

const request = { holder: "a plain role's", ttlMs: 60_000, gapNumbers: 10 };

describe("a role that may do nothing but use its own tables", () => {
  let owner: Database;
  let plain: Database;
  const role = `plain_${Date.now()}`;
  beforeAll(async () => {
    const url = new URL(await freshDatabase());
    owner = connectDatabase({ url: url.href, applicationName: "test" });
    await owner.sql.unsafe(
      `create role ${role} login password 'plain'; grant create, usage on schema public to ${role}`,
    );
    url.username = role;
    url.password = "plain";
    plain = connectDatabase({ url: url.href, applicationName: "test" });
    await migrate(plain, MIGRATIONS);
  });
  afterAll(async () => {
    await plain.close();
    await owner.sql.unsafe(`drop owned by ${role}; drop role ${role}`);
    await owner.close();
  });

  it("reads the server's identity and timeline", async () => {
    const store = postgresStore(plain);
    const { lead } = await store.acquireLease(request);
    expect(lead?.history).toMatch(/^\d{15,}\/1$/);
    expect(await store.renewLease(lead!, 1_000)).toBe("held");
    await store.releaseLease(lead!, []);
  });

  it.for(["pg_control_system()", "pg_walfile_name(pg_lsn)", "pg_current_wal_lsn()"])(
    "leads and renews all the same where %s is forbidden, and knows that it does not know",
    async (name) => {
      await owner.sql.unsafe(`revoke execute on function ${name} from public`);
      const store = postgresStore(plain);
      const { lead } = await store.acquireLease(request);
      expect(lead).toMatchObject({ holder: request.holder, history: undefined });
      expect(await store.renewLease(lead!, 1_000)).toBe("held");
      await store.releaseLease(lead!, []);
      await owner.sql.unsafe(`grant execute on function ${name} to public`);
    },
  );

  it("starts over on a server that does not say any more: nothing is renewed of which nobody knows the history", async () => {
    const store = postgresStore(plain);
    const { lead } = await store.acquireLease(request);
    const forbidden = "function pg_control_system()";
    await owner.sql.unsafe(`revoke execute on ${forbidden} from public`);
    expect(await store.renewLease(lead!, 1_000)).toBe("moved");
    await store.releaseLease(lead!, []);
    const again = await store.acquireLease({ ...request, holder: "the same" });
    expect(again.lead).toMatchObject({
      epoch: lead!.epoch + 1 + EPOCHS_PER_HISTORY,
      history: undefined,
    });
    await store.releaseLease(again.lead!, []);
    await owner.sql.unsafe(`grant execute on ${forbidden} to public`);
  });
});

describe("why a server may forget", () => {
  const safe = { fsync: "on", synchronousCommit: "on", synchronousStandbyNames: "ANY 1 (a, b)" };
  it.for([
    ["nothing, with a synchronous standby", {}, []],
    ["no standby that a commit waits for", { synchronousStandbyNames: "" }, [/names is empty/]],
    ["a commit that does not wait for it", { synchronousCommit: "local" }, [/= local/]],
    ["a disk that nobody waits for", { fsync: "off" }, [/^fsync = off/]],
  ] as const)("%s", ([, change, wanted]) => {
    const reasons = whyItMayForget({ ...safe, ...change });
    expect(reasons).toHaveLength(wanted.length);
    for (const [index, reason] of reasons.entries()) expect(reason).toMatch(wanted[index]!);
  });

  it("is said at the start of a mint", async () => {
    const warnings: [string, unknown][] = [];
    const log = {
      ...silentLog,
      warn: (message: string, fields?: unknown) => void warnings.push([message, fields]),
    };
    const mint = await localMint({ log });
    const settings = await readDurability(mint.database);
    await mint.stop();
    expect(settings).toMatchObject({ fsync: "off", synchronousStandbyNames: "" });
    expect(warnings).toEqual([["database-may-forget", { reasons: whyItMayForget(settings) }]]);
  });
});

import type { Database, Sql, Transaction } from "@vestibule/db/connect";
import { epochMs, epochSeconds } from "@vestibule/kernel/units";
import type { KeyUse, PublicJwk } from "@vestibule/keys/public-key";
import type { KeyState } from "@vestibule/keys/rotation";
import { KEYS_OVER_SHOWN_MAX, STEP_DEADLINE_MS } from "../limits.ts";
import { writeAudit } from "./event-repository.ts";
import { fence } from "./fence.ts";
import { type KeyRow, KeysMovedError, type MintStore } from "./store.ts";

interface Row {
  kid: string;
  use: KeyUse;
  state: KeyState;
  since_ms: number;
  signed_until_s: number | null;
  public_jwk: PublicJwk;
  sealed: string | null;
  created_at_ms: number;
  first_seq: number | null;
}

export function keyRepository(database: Database): Pick<MintStore, "loadKeys" | "changeKeys"> {
  return {
    loadKeys: () =>
      database.transaction(async (sql) => {
        // One snapshot: a number beside the keys of another one would be published for good.
        await sql`set transaction isolation level repeatable read, read only`;
        const [set] = await sql<{ seq: number }[]>`select seq from key_set where id = 1`;
        const rows = await readRows(sql);
        return { seq: set?.seq ?? 0, keys: rows.map(toKey) };
      }),

    changeKeys: (lead, { seq, nextSeq, rows, audit }) =>
      database.transaction(
        async (sql) => {
          await fence(sql, lead);
          const moved = await sql`
            update key_set set seq = ${nextSeq}::bigint
             where id = 1 and seq = ${seq}::bigint and seq < ${nextSeq}::bigint`;
          if (moved.count !== 1) throw new KeysMovedError("the keys were changed in the meantime");
          // Whoever stops signing comes first: of each use one key signs, at every moment.
          for (const row of rows) if (row.state !== "signing") await write(sql, row);
          for (const row of rows) if (row.state === "signing") await write(sql, row);
          for (const entry of audit) {
            await writeAudit(sql, { event: null, version: null, audit: entry });
          }
        },
        { deadlineMs: STEP_DEADLINE_MS },
      ),
  };
}

function readRows(sql: Sql | Transaction): Promise<Row[]> {
  return sql<Row[]>`
    select * from signing_keys
     where state not in ('retired', 'revoked')
        or kid in (select kid from signing_keys where state in ('retired', 'revoked')
                    order by since_ms desc, kid limit ${KEYS_OVER_SHOWN_MAX})
     order by created_at_ms, kid`;
}

async function write(sql: Transaction, row: KeyRow): Promise<void> {
  await sql`
    insert into signing_keys (kid, use, state, since_ms, signed_until_s, public_jwk, sealed, created_at_ms, first_seq)
    values (${row.kid}, ${row.use}, ${row.state}, ${row.since}::bigint, ${row.signedUntil ?? null}::bigint,
            ${sql.json(row.publicJwk as never)}, ${row.sealed ?? null}, ${row.createdAt}::bigint,
            ${row.firstSeq ?? null}::bigint)
    on conflict (kid) do update
       set state = excluded.state, since_ms = excluded.since_ms,
           signed_until_s = excluded.signed_until_s, sealed = excluded.sealed`;
}

function toKey(row: Row): KeyRow {
  return {
    kid: row.kid,
    use: row.use,
    state: row.state,
    since: epochMs(row.since_ms),
    ...(row.signed_until_s === null ? {} : { signedUntil: epochSeconds(row.signed_until_s) }),
    publicJwk: row.public_jwk,
    sealed: row.sealed ?? undefined,
    createdAt: epochMs(row.created_at_ms),
    ...(row.first_seq === null ? {} : { firstSeq: row.first_seq }),
  };
}

import type { Database } from "@vestibule/db/connect";
import { epochMs, epochSeconds } from "@vestibule/kernel/units";
import type { PublicJwk } from "@vestibule/keys/public-key";
import type { KeyState } from "@vestibule/keys/rotation";
import { assertHeld, fenceTable } from "./fence.ts";
import type { KeyRow, MintStore } from "./store.ts";

interface Row {
  kid: string;
  state: KeyState;
  since_ms: number;
  signed_until_s: number | null;
  public_jwk: PublicJwk;
  sealed: string | null;
  created_at_ms: number;
}

export function keyRepository(database: Database): Pick<MintStore, "loadKeys" | "addFirstKey"> {
  return {
    loadKeys: () =>
      database.run(async (sql) => {
        const rows = await sql<Row[]>`select * from signing_keys order by created_at_ms, kid`;
        return rows.map(toKey);
      }),

    addFirstKey: (lead, key) =>
      database.run(async (sql) => {
        const rows = await sql<{ held: boolean; added: boolean }[]>`
          with ${fenceTable(sql, lead)}, added as (
            insert into signing_keys (kid, state, since_ms, public_jwk, sealed, created_at_ms)
            select ${key.kid}, ${key.state}, ${key.since}::bigint,
                   ${sql.json(key.publicJwk as never)}, ${key.sealed ?? null}, ${key.createdAt}::bigint
              from lead where not exists (select 1 from signing_keys where state = 'signing')
            on conflict do nothing
            returning 1
          )
          select exists (select 1 from lead) as held, exists (select 1 from added) as added`;
        assertHeld(rows);
        return rows[0]?.added === true;
      }),
  };
}

function toKey(row: Row): KeyRow {
  return {
    kid: row.kid,
    state: row.state,
    since: epochMs(row.since_ms),
    ...(row.signed_until_s === null ? {} : { signedUntil: epochSeconds(row.signed_until_s) }),
    publicJwk: row.public_jwk,
    sealed: row.sealed ?? undefined,
    createdAt: epochMs(row.created_at_ms),
  };
}

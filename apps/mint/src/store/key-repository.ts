import type { Database } from "@vestibule/db/connect";
import { type EpochMs, epochMs } from "@vestibule/kernel/units";
import { assertHeld, fenceTable } from "./fence.ts";
import type { KeyRow, KeyRowState, MintStore } from "./store.ts";

interface Row {
  kid: string;
  state: KeyRowState;
  public_jwk: Readonly<Record<string, unknown>>;
  sealed: string | null;
  created_at_ms: number;
  staged_at_ms: number | null;
  signing_at_ms: number | null;
  retiring_at_ms: number | null;
  retired_at_ms: number | null;
  revoked_at_ms: number | null;
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
            insert into signing_keys
              (kid, state, public_jwk, sealed, created_at_ms, staged_at_ms, signing_at_ms)
            select ${key.kid}, ${key.state}, ${sql.json(key.publicJwk as never)}, ${key.sealed ?? null},
                   ${key.createdAt}::bigint, ${key.stagedAt ?? null}::bigint, ${key.signingAt ?? null}::bigint
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
    publicJwk: row.public_jwk,
    sealed: row.sealed ?? undefined,
    createdAt: epochMs(row.created_at_ms),
    stagedAt: moment(row.staged_at_ms),
    signingAt: moment(row.signing_at_ms),
    retiringAt: moment(row.retiring_at_ms),
    retiredAt: moment(row.retired_at_ms),
    revokedAt: moment(row.revoked_at_ms),
  };
}

function moment(value: number | null): EpochMs | undefined {
  return value === null ? undefined : epochMs(value);
}

import type { Sql, Transaction } from "@vestibule/db/connect";
import { type Lead, LeaseLostError } from "./store.ts";

/**
 * Locks the lease row for the rest of the transaction, if `lead` still holds it. A takeover locks it
 * FOR UPDATE: it waits for this commit, or comes first and this finds nothing. Renewals change no key
 * column, so that they and grants do not wait for each other.
 *
 * @throws LeaseLostError
 */
export async function fence(sql: Transaction, { holder, epoch }: Lead): Promise<void> {
  const rows = await sql`
    select 1 from lease
     where id = 1 and epoch = ${epoch} and holder = ${holder} and not released for key share`;
  if (rows.length === 0) throw new LeaseLostError("the lease has another holder");
}

/** The same as a common table expression `lead` for single statements: one row, or none. */
export function fenceTable(sql: Sql | Transaction, { holder, epoch }: Lead) {
  return sql`lead as materialized (
    select 1 as held from lease
     where id = 1 and epoch = ${epoch} and holder = ${holder} and not released for key share
  )`;
}

/** @throws LeaseLostError when the statement's `held` says that its fence found nothing. */
export function assertHeld(rows: readonly { readonly held: boolean }[]): void {
  if (rows[0]?.held !== true) throw new LeaseLostError("the lease has another holder");
}

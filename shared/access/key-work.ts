/** What API keys have used, day by day of UTC: counted in the transactions that do the work. */
import type { Queryable, Transaction } from "../platform/database/database.ts";

export interface Work {
  /** URLs that were asked for, each once. */
  pages: number;
  /** Bytes that came over the network. */
  fetchedBytes: number;
  documents: number;
  /** Bytes of captures, and of uploads. */
  storedBytes: number;
}

/** Locks the key's row of the day, until the transaction ends. */
export async function countWork(tx: Transaction, apiKeyId: string | null, work: Partial<Work>): Promise<void> {
  if (apiKeyId !== null && !isNothing(work)) await tx`${workOf(tx, apiKeyId, work)}`;
}

/** As `countWork`, as the head of another statement, for which it costs no round trip of its own. */
export const withWork = (tx: Transaction, apiKeyId: string | null, work: Partial<Work>) =>
  apiKeyId === null || isNothing(work) ? tx`` : tx`with work as (${workOf(tx, apiKeyId, work)})`;

const isNothing = (work: Partial<Work>): boolean => Object.values(work).every((amount) => amount === 0);

function workOf(
  tx: Transaction,
  apiKeyId: string,
  { pages = 0, fetchedBytes = 0, documents = 0, storedBytes = 0 }: Partial<Work>,
) {
  return tx`
    insert into key_work as w (api_key_id, day, pages, fetched_bytes, documents, stored_bytes)
    values (${apiKeyId}, ${today(tx)}, ${pages}, ${fetchedBytes}, ${documents}, ${storedBytes})
    on conflict (api_key_id, day) do update set pages = w.pages + excluded.pages,
      fetched_bytes = w.fetched_bytes + excluded.fetched_bytes, documents = w.documents + excluded.documents,
      stored_bytes = w.stored_bytes + excluded.stored_bytes`;
}

/** The day that it is by UTC, by SQL. */
export const today = (sql: Queryable) => sql`(statement_timestamp() at time zone 'UTC')::date`;

/** Of a key's quotas. */
export interface UsedQuotas {
  /** Of today, with those that what is under way may become. */
  pages: number;
  stored: number;
}

/**
 * Keeps all others who ask for the same key waiting until the transaction ends. To be called behind `countWork` of the
 * key, where both are.
 */
export async function usedQuotas(tx: Transaction, apiKeyId: string): Promise<UsedQuotas> {
  const [row] = await tx<UsedQuotas[]>`
    select pages_used as pages, bytes_stored as stored from used_quotas(${apiKeyId})`;
  return row as UsedQuotas;
}

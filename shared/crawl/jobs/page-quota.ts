/**
 * The quotas of a job's key that bound what it fetches: pages of the day, and bytes that the key may store. Whoever
 * claims holds the key's lock until its claims are to be seen, so that of two at once the second counts those of the
 * first.
 */
import { usedQuotas } from "../../access/key-work.ts";
import { dailyQuotaExceeded, storageQuotaExceeded } from "../../access/quotas.ts";
import type { Transaction } from "../../platform/database/database.ts";
import type { JobRow } from "./lifecycle.ts";

export type KeyedJob = Pick<JobRow, "apiKeyId" | "pagesPerDay" | "maxStoredBytes">;

/** Whether its key bounds what it fetches: nothing is asked about where it does not. */
export const hasQuota = ({ apiKeyId, pagesPerDay, maxStoredBytes }: KeyedJob): boolean =>
  apiKeyId !== null && (pagesPerDay !== null || maxStoredBytes !== null);

/**
 * What is under way may become pages of this day, those that wait for another try included. How many bytes a page
 * will have nobody knows: what is under way when the bytes are reached is stored.
 * @returns URLs that may still be claimed for the first time
 */
export async function pagesLeft(tx: Transaction, job: KeyedJob): Promise<number> {
  return hasQuota(job) ? (await readQuota(tx, job)).left : Number.POSITIVE_INFINITY;
}

/**
 * Refuses a job that could fetch nothing. To be called in the transaction that creates it.
 * @throws ApiError 429 QUOTA_EXCEEDED, 403 STORAGE_QUOTA_EXCEEDED
 */
export async function requirePagesLeft(tx: Transaction, job: KeyedJob): Promise<void> {
  if (!hasQuota(job)) return;
  const { left, stored, isFull } = await readQuota(tx, job);
  if (isFull) throw storageQuotaExceeded(stored, job.maxStoredBytes ?? 0);
  if (left > 0) return;
  const limit = job.pagesPerDay ?? 0;
  throw dailyQuotaExceeded("pages_per_day", limit, `fetched the ${limit} pages of its day, or is fetching them`);
}

async function readQuota(tx: Transaction, { apiKeyId, pagesPerDay, maxStoredBytes }: KeyedJob) {
  const { pages, stored } = await usedQuotas(tx, apiKeyId ?? "");
  const isFull = stored >= (maxStoredBytes ?? Number.POSITIVE_INFINITY);
  return { left: isFull ? 0 : Math.max(0, (pagesPerDay ?? Number.POSITIVE_INFINITY) - pages), stored, isFull };
}

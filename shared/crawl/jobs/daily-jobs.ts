/** The quota of jobs that a key may begin in a day of UTC, and what it has begun. */
import { today } from "../../access/key-work.ts";
import { dailyQuotaExceeded } from "../../access/quotas.ts";
import type { Transaction } from "../../platform/database/database.ts";

/**
 * Counts one job. To be called in the transaction that creates it: one that fails counts nothing, and of many at once
 * each waits for the row of the one before.
 * @throws ApiError 429 QUOTA_EXCEEDED
 */
export async function countDailyJob(tx: Transaction, apiKeyId: string): Promise<void> {
  const [counted] = await tx`
    insert into key_usage as used (api_key_id, day, jobs)
    values (${apiKeyId}, ${today(tx)}, 1)
    on conflict (api_key_id, day) do update set jobs = used.jobs + 1
    where used.jobs < coalesce((select jobs_per_day from api_keys where id = ${apiKeyId}), ${MOST_JOBS})
    returning jobs`;
  if (counted !== undefined) return;
  const [key] = await tx<{ limit: number }[]>`select jobs_per_day as "limit" from api_keys where id = ${apiKeyId}`;
  const limit = key?.limit ?? 0;
  throw dailyQuotaExceeded("jobs_per_day", limit, `begun the ${limit} jobs that it may begin in a day`);
}

/** Of an int. */
const MOST_JOBS = 2_147_483_647;

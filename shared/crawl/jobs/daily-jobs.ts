/** The quota of jobs that a key may begin in a day of UTC, and what it has begun. */
import type { Transaction } from "../../platform/database/database.ts";
import { ApiError } from "../../platform/errors.ts";

/**
 * Counts one job. To be called in the transaction that creates it: one that fails counts nothing, and of many at once
 * each waits for the row of the one before.
 * @throws ApiError 429 QUOTA_EXCEEDED
 */
export async function countDailyJob(tx: Transaction, apiKeyId: string): Promise<void> {
  const [counted] = await tx`
    insert into key_usage as used (api_key_id, day, jobs)
    values (${apiKeyId}, (statement_timestamp() at time zone 'UTC')::date, 1)
    on conflict (api_key_id, day) do update set jobs = used.jobs + 1
    where used.jobs < coalesce((select jobs_per_day from api_keys where id = ${apiKeyId}), ${MOST_JOBS})
    returning jobs`;
  if (counted !== undefined) return;
  const [row] = await tx<{ limit: number; resetsAt: Date; seconds: number }[]>`
    select jobs_per_day as "limit", tomorrow as "resetsAt",
      ceil(extract(epoch from tomorrow - statement_timestamp()))::int as seconds
    from api_keys cross join (
      select (date_trunc('day', statement_timestamp() at time zone 'UTC') + interval '1 day') at time zone 'UTC') t (tomorrow)
    where id = ${apiKeyId}`;
  const { limit = 0, resetsAt = new Date(), seconds = 1 } = row ?? {};
  const resets_at = resetsAt.toISOString();
  const message = `This API key has begun the ${limit} jobs that it may begin in a day`;
  throw new ApiError(429, `${message}: go on at ${resets_at}, or have its jobs_per_day raised`, {
    code: "QUOTA_EXCEEDED",
    details: { jobs_per_day: limit, resets_at },
    headers: { "retry-after": String(Math.max(1, seconds)) },
  });
}

/** Of an int. */
const MOST_JOBS = 2_147_483_647;

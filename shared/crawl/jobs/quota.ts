/** The quota of spider jobs whose results are stored: how many of one key may be unfinished at once. */
import type { Transaction } from "../../platform/database/database.ts";
import { ApiError } from "../../platform/errors.ts";

/**
 * To be called in the transaction that creates the job. The key's row is locked until then, so that of two requests at
 * once the second counts the job of the first.
 * @throws ApiError 429 QUOTA_EXCEEDED
 */
export async function admitStoredJob(tx: Transaction, apiKeyId: string, limit: number): Promise<void> {
  await tx`select from api_keys where id = ${apiKeyId} for no key update`;
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from jobs
    where api_key_id = ${apiKeyId} and delivery = 'store' and status in ('pending', 'running', 'embedding')`;
  const count = row?.count ?? 0;
  if (count < limit) return;
  throw new ApiError(429, `This API key has ${count} stored jobs that are not finished: wait for some of them to end`, {
    code: "QUOTA_EXCEEDED",
    details: { unfinished_jobs: count, limit },
    headers: { "retry-after": "30" },
  });
}

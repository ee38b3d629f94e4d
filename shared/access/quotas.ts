/** What an API key may still do, and how it is told that it may not. */
import type { Transaction } from "../platform/database/database.ts";
import { ApiError } from "../platform/errors.ts";
import { countWork, usedQuotas } from "./key-work.ts";

/**
 * Of what may be done again when the day is over.
 * @param quota the field of the key that says how much
 * @param done what the key has done, with its verb
 */
export function dailyQuotaExceeded(quota: "jobs_per_day" | "pages_per_day", limit: number, done: string): ApiError {
  const left = DAY_MS - (Date.now() % DAY_MS);
  const resets_at = new Date(Date.now() + left).toISOString();
  return new ApiError(429, `This API key has ${done}: go on at ${resets_at}, or have its ${quota} raised`, {
    code: "QUOTA_EXCEEDED",
    details: { [quota]: limit, resets_at },
    headers: { "retry-after": String(Math.ceil(left / 1000)) },
  });
}

const DAY_MS = 86_400_000;

/** No time helps, so that it is no 429, which clients send again. */
export function storageQuotaExceeded(storedBytes: number, maxStoredBytes: number): ApiError {
  const message = `This API key stores ${storedBytes} of the ${maxStoredBytes} bytes that it may`;
  const advice = "delete documents of its uploads permanently, or have its max_stored_bytes raised";
  return new ApiError(403, `${message}: ${advice}`, {
    code: "STORAGE_QUOTA_EXCEEDED",
    details: { stored_bytes: storedBytes, max_stored_bytes: maxStoredBytes },
  });
}

/**
 * Counts what is uploaded. To be called in the transaction that stores it.
 * @throws ApiError 403 STORAGE_QUOTA_EXCEEDED where the key would store more than it may with it
 */
export async function countUploads(
  tx: Transaction,
  apiKeyId: string | null,
  uploads: { documents: number; storedBytes: number },
): Promise<void> {
  if (apiKeyId === null) return;
  await countWork(tx, apiKeyId, uploads);
  const quota = await readStorageQuota(tx, apiKeyId);
  if (quota !== undefined && quota.storedBytes > quota.maxStoredBytes) {
    throw storageQuotaExceeded(quota.storedBytes - uploads.storedBytes, quota.maxStoredBytes);
  }
}

/** @throws ApiError 403 STORAGE_QUOTA_EXCEEDED where the key stores all that it may */
export async function requireStorage(tx: Transaction, apiKeyId: string | null): Promise<void> {
  const quota = apiKeyId === null ? undefined : await readStorageQuota(tx, apiKeyId);
  if (quota !== undefined && quota.storedBytes >= quota.maxStoredBytes) {
    throw storageQuotaExceeded(quota.storedBytes, quota.maxStoredBytes);
  }
}

/** Locks the key's quotas where it has this one. */
async function readStorageQuota(
  tx: Transaction,
  apiKeyId: string,
): Promise<{ storedBytes: number; maxStoredBytes: number } | undefined> {
  const [key] = await tx<{ maxStoredBytes: number | null }[]>`
    select max_stored_bytes as "maxStoredBytes" from api_keys where id = ${apiKeyId}`;
  if (key === undefined || key.maxStoredBytes === null) return undefined;
  const { stored } = await usedQuotas(tx, apiKeyId);
  return { storedBytes: stored, maxStoredBytes: key.maxStoredBytes };
}

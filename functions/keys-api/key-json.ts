/** API keys as the API shows them. */
import { z } from "zod";
import { type ApiKey, SCOPES } from "../../shared/access/api-keys.ts";

export const apiKeySchema = z.object({
  id: z.uuid(),
  prefix: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  rate_limit_rpm: z.int(),
  /** The collections that it is limited to; null: it is not. */
  collections: z.array(z.uuid()).nullable(),
  /** Jobs that it may begin in a day of UTC; null: any number. */
  jobs_per_day: z.int().nullable(),
  /** Those that it has begun today. */
  jobs_today: z.int(),
  /** Pages that its jobs may fetch in a day of UTC; null: any number. */
  pages_per_day: z.int().nullable(),
  /** Those that they have fetched today. */
  pages_today: z.int(),
  /** Bytes of captures and uploads that it may store; null: any number. */
  max_stored_bytes: z.int().nullable(),
  /** Those that it stores. */
  stored_bytes: z.int(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable(),
  is_active: z.boolean(),
});

export function apiKeyJson(key: ApiKey): z.input<typeof apiKeySchema> {
  return {
    id: key.id,
    prefix: key.prefix,
    name: key.name,
    scopes: key.scopes,
    rate_limit_rpm: key.rateLimitRpm,
    collections: key.collectionIds,
    jobs_per_day: key.jobsPerDay,
    jobs_today: key.jobsToday,
    pages_per_day: key.pagesPerDay,
    pages_today: key.pagesToday,
    max_stored_bytes: key.maxStoredBytes,
    stored_bytes: key.storedBytes,
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    is_active: key.isActive,
  };
}

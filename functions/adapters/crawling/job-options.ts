/** What every request for a crawl may say beside what is to be crawled, and what that means for the job. */
import { z } from "zod";
import type { Caller } from "../../../shared/access/authorize.ts";
import { crawlConfigOverridesSchema, effectiveConfig } from "../../../shared/crawl/administration/effective-config.ts";
import type { JobSettings } from "../../../shared/crawl/settings/job-settings.ts";
import { PRIORITIES } from "../../../shared/crawl/settings/job-settings.ts";
import type { NewJob } from "../../../shared/crawl/submit/create-job.ts";
import type { Config } from "../../../shared/platform/config.ts";
import type { Sql } from "../../../shared/platform/database/database.ts";
import { orNull, orNullAs } from "../api/or-null.ts";

/** Fields of a request body. */
export const jobOptions = {
  config_id: orNull(z.uuid()),
  /** Settings for this job alone; they win over those of `config_id`. */
  config: orNull(crawlConfigOverridesSchema),
  collection_id: orNull(z.uuid()),
  tags: orNullAs(z.array(z.string().trim().toLowerCase().min(1).max(100)).max(50), []),
  priority: z.enum(PRIORITIES).default("normal"),
};

/** Whether recent captures are used again instead of requests. */
export const cacheOption = (fallback: JobSettings["cache"]) => z.enum(["use", "bypass"]).default(fallback);

/** What `cacheOption` means for a job. */
export function cacheHandling(
  cache: JobSettings["cache"],
  { crawlCacheTtlS }: Pick<Config, "crawlCacheTtlS">,
): Pick<JobSettings, "cache" | "cache_ttl_s"> {
  return { cache, cache_ttl_s: crawlCacheTtlS };
}

const jobOptionsSchema = z.object(jobOptions);
export type JobOptions = z.output<typeof jobOptionsSchema>;

/** @throws ApiError 404 where a config or collection is named that does not exist */
export async function resolveOptions(
  { sql }: { sql: Sql },
  { config_id, config = {}, collection_id, tags, priority }: JobOptions,
  caller: Caller,
): Promise<Pick<NewJob, "config" | "collectionId" | "tags" | "priority" | "apiKeyId">> {
  const effective = await effectiveConfig(sql, config_id, config, collection_id);
  return { config: effective, collectionId: collection_id ?? null, tags, priority, apiKeyId: caller.keyId };
}

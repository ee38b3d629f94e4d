/** Jobs of single pages that somebody waits for: they go first, and what they fetch is archived and not indexed. */
import type { Caller } from "../../../shared/access/authorize.ts";
import { effectiveConfig } from "../../../shared/crawl/administration/effective-config.ts";
import type { JobDependencies } from "../../../shared/crawl/jobs/dependencies.ts";
import { type CrawlConfig, crawlConfigSchema } from "../../../shared/crawl/settings/crawl-config.ts";
import { createJob, type NewJob } from "../../../shared/crawl/submit/create-job.ts";
import { ANYWHERE } from "../../../shared/crawl/urls/scope.ts";
import type { Queryable } from "../../../shared/platform/database/database.ts";
import { ApiError } from "../../../shared/platform/errors.ts";

/** Settings of what becomes searchable, which answered pages do not. */
const INDEX_SETTINGS = ["chunk_size", "chunk_overlap", "min_chunk_size", "languages"] as const;

/**
 * The settings of pages that are answered. A stored config may be made for other crawls, too.
 * @throws ApiError 400 VALIDATION_ERROR where the request names one that would have no effect; as `effectiveConfig`
 */
export async function answeredPagesConfig(
  sql: Queryable,
  configId: string | undefined,
  overrides: Partial<CrawlConfig> = {},
): Promise<CrawlConfig> {
  const defaults = crawlConfigSchema.parse({});
  const idle = INDEX_SETTINGS.find(
    (name) => overrides[name] !== undefined && String(overrides[name]) !== String(defaults[name]),
  );
  if (idle !== undefined) {
    const message = `config: ${idle} is for pages that become searchable, and these do not: leave it out`;
    throw new ApiError(400, message, { code: "VALIDATION_ERROR" });
  }
  return await effectiveConfig(sql, configId, overrides);
}

type AnsweredPages = Required<Pick<NewJob, "seeds" | "config" | "handling" | "timeoutS">> & Pick<NewJob, "id">;

/**
 * @returns the id of the job
 * @throws as `createJob` does
 */
export async function startAnsweredPages(
  dependencies: JobDependencies,
  caller: Caller,
  { id, seeds, config, handling, timeoutS }: AnsweredPages,
): Promise<string> {
  const { job_id } = await createJob(dependencies, {
    id,
    kind: "pages",
    seeds,
    scope: ANYWHERE,
    maxDepth: 0,
    maxPages: seeds.length,
    priority: "high",
    config,
    handling: { index: false, ...handling },
    timeoutS,
    delivery: "answer",
    collectionId: null,
    tags: [],
    apiKeyId: caller.keyId,
  });
  return job_id;
}

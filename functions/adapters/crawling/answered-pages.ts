/** Jobs of single pages that somebody waits for: they go first, and what they fetch is archived and not indexed. */
import type { Caller } from "../../../shared/access/authorize.ts";
import type { JobDependencies } from "../../../shared/crawl/jobs/dependencies.ts";
import { createJob, type NewJob } from "../../../shared/crawl/submit/create-job.ts";
import { ANYWHERE } from "../../../shared/crawl/urls/scope.ts";

/**
 * @returns the id of the job
 * @throws as `createJob` does
 */
export async function startAnsweredPages(
  dependencies: JobDependencies,
  caller: Caller,
  { seeds, config, handling, timeoutS }: Required<Pick<NewJob, "seeds" | "config" | "handling" | "timeoutS">>,
): Promise<string> {
  const { job_id } = await createJob(dependencies, {
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

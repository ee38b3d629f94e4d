/** The route that makes a crawl job of the merged list of a search run. */
import { z } from "zod";
import { inspectUrl } from "../../shared/access/url-inspection.ts";
import { effectiveConfig } from "../../shared/crawl/administration/effective-config.ts";
import { createJob } from "../../shared/crawl/submit/create-job.ts";
import { ANYWHERE } from "../../shared/crawl/urls/scope.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { defineRoute } from "../adapters/api/route.ts";
import { jobOptions } from "../adapters/crawling/job-options.ts";
import type { HarvestApi } from "./dependencies.ts";
import { requireRun, runParameters } from "./runs.ts";

const bodySchema = z.strictObject({
  /** Only URLs that so many providers found. */
  min_confidence: z.int().min(1).max(5).default(1),
  /** The best so many. */
  limit: z.int().min(1).max(1_000).default(1_000),
  ...jobOptions,
});

export const crawlRun = defineRoute(
  {
    method: "POST",
    path: "/search-runs/{run_id}/crawl",
    scope: "write",
    idempotent: true,
    summary: "Crawl the URLs of a run, as one job",
    params: runParameters,
    body: bodySchema,
    status: 202,
    response: z.object({
      job_id: z.uuid(),
      status: z.string(),
      run_id: z.int(),
      submitted: z.int(),
      /** URLs that are not fetched, and why. */
      refused: z.array(z.object({ url: z.string(), code: z.string(), reason: z.string() })),
    }),
  },
  async ({ params: { run_id }, body, caller, reservedId }, dependencies: HarvestApi) => {
    const { sql, inspector } = dependencies;
    const { urls } = await requireRun({ sql }, run_id);
    const wanted = urls.filter(({ confidence }) => confidence >= body.min_confidence).slice(0, body.limit);
    const seeds: string[] = [];
    const refused: { url: string; code: string; reason: string }[] = [];
    for (const { url } of wanted) {
      const checked = inspectUrl(inspector, url);
      if (checked instanceof URL) seeds.push(checked.href);
      else refused.push({ url, code: checked.code, reason: checked.message });
    }
    if (seeds.length === 0) {
      const text =
        refused.length === 0 ? "the run has no URL of that kind" : refused.map(({ reason }) => reason).join("; ");
      throw new ApiError(409, "nothing to crawl", { code: "NOTHING_TO_CRAWL", details: { text } });
    }
    const config = await effectiveConfig(sql, body.config_id, body.config ?? {}, body.collection_id);
    const job = await createJob(dependencies, {
      id: reservedId("job"),
      kind: "pages",
      seeds,
      scope: ANYWHERE,
      maxDepth: 0,
      maxPages: seeds.length,
      priority: body.priority,
      config,
      collectionId: body.collection_id ?? null,
      tags: body.tags,
      apiKeyId: caller.keyId,
    });
    return { job_id: job.job_id, status: job.status, run_id, submitted: job.counts.discovered, refused };
  },
);

/** The routes that create jobs: of pages, of a batch of pages as a job each, of a whole site. */
import type { JobView } from "../../shared/crawl/jobs/views.ts";
import { createJob, type NewJob } from "../../shared/crawl/submit/create-job.ts";
import { ANYWHERE } from "../../shared/crawl/urls/scope.ts";
import { scopeOfSeeds } from "../../shared/crawl/urls/scope-of-seeds.ts";
import { toApiError } from "../adapters/api/errors.ts";
import { defineRoute } from "../adapters/api/route.ts";
import { checkedUrl } from "../adapters/crawling/checked-url.ts";
import { cacheHandling, resolveOptions } from "../adapters/crawling/job-options.ts";
import { jobWebhook } from "../adapters/crawling/webhook-options.ts";
import type { CrawlApi } from "./dependencies.ts";
import { batchRequestSchema, crawlRequestSchema, deepRequestSchema } from "./requests.ts";
import { batchResponseSchema, jobResponseSchema } from "./responses.ts";

/** One job holds all URLs of a request: they are searchable together, and one id stands for them all. */
export const crawlPages = defineRoute(
  {
    method: "POST",
    path: "/api/v1/crawl",
    scope: "write",
    summary: "Crawl the given pages, as one job",
    body: crawlRequestSchema,
    status: 202,
    idempotent: true,
    response: jobResponseSchema,
  },
  async ({ body, caller, reservedId }, dependencies: CrawlApi) => {
    const wanted = body.urls ?? [body.url as string];
    const seeds = wanted.map((url, index) =>
      checkedUrl(dependencies.inspector, url, body.urls ? `urls[${index}]` : "url"),
    );
    const job = await createJob(dependencies, {
      id: reservedId("job"),
      ...pagesJob(seeds),
      handling: { ...handlingOf(body, dependencies), concurrency: body.concurrency ?? null },
      ...(await resolveOptions(dependencies, body, caller)),
      webhook: jobWebhook(dependencies.inspector, body),
    });
    return jobResponse(job);
  },
);

export const crawlBatch = defineRoute(
  {
    method: "POST",
    path: "/api/v1/crawl/batch",
    scope: "write",
    summary: "Crawl up to 100 pages, as a job each; a URL that is refused fails alone",
    body: batchRequestSchema,
    status: 202,
    idempotent: true,
    response: batchResponseSchema,
  },
  async ({ body, caller, log, reservedId }, dependencies: CrawlApi) => {
    const options = {
      ...(await resolveOptions(dependencies, body, caller)),
      handling: handlingOf(body, dependencies),
      webhook: jobWebhook(dependencies.inspector, body),
    };
    const jobs = [];
    for (const [index, url] of body.urls.entries()) {
      try {
        const seed = checkedUrl(dependencies.inspector, url, `urls[${index}]`);
        const job = await createJob(dependencies, { id: reservedId(`job ${index}`), ...pagesJob([seed]), ...options });
        jobs.push({ url, ...jobResponse(job), code: null });
      } catch (error) {
        const { code, message, status } = toApiError(error);
        if (status >= 500) log.error("a job of a batch was not taken", { index, code, error });
        jobs.push({ url, job_id: null, status: "failed" as const, message, code });
      }
    }
    const failed_count = jobs.filter((job) => job.job_id === null).length;
    return { jobs, total_submitted: jobs.length - failed_count, failed_count };
  },
);

export const crawlSite = defineRoute(
  {
    method: "POST",
    path: "/api/v1/crawl/deep",
    scope: "write",
    summary:
      "Crawl a site from one page: breadth first, depth first, or best first by " +
      "keywords; on its host, its domain, or below its path",
    body: deepRequestSchema,
    status: 202,
    idempotent: true,
    response: jobResponseSchema,
  },
  async ({ body, caller, reservedId }, dependencies: CrawlApi) => {
    const seed = checkedUrl(dependencies.inspector, body.url, "url");
    const job = await createJob(dependencies, {
      id: reservedId("job"),
      kind: "site",
      seeds: [seed],
      scope: scopeOfSeeds([seed], { mode: body.scope, include: body.include, exclude: body.exclude }),
      maxDepth: body.max_depth,
      maxPages: body.max_pages,
      order: {
        strategy: body.strategy,
        keywords: body.keywords,
        score_threshold: body.strategy === "best_first" ? body.score_threshold : 0,
        max_pages_per_host: body.max_pages_per_host ?? null,
      },
      handling: { ...handlingOf(body, dependencies), concurrency: body.concurrency ?? null },
      timeoutS: body.timeout_seconds ?? null,
      ...(await resolveOptions(dependencies, body, caller)),
      webhook: jobWebhook(dependencies.inspector, body),
    });
    return jobResponse(job);
  },
);

function pagesJob(seeds: string[]): Pick<NewJob, "kind" | "seeds" | "scope" | "maxDepth" | "maxPages"> {
  return { kind: "pages", seeds, scope: ANYWHERE, maxDepth: 0, maxPages: seeds.length };
}

function jobResponse(job: JobView): { job_id: string; status: JobView["status"]; message: string } {
  const { discovered } = job.counts;
  const what =
    job.kind === "site" ? `at most ${job.settings.max_pages} pages` : `${discovered} URL${discovered === 1 ? "" : "s"}`;
  return { job_id: job.job_id, status: job.status, message: `Job taken: ${what}` };
}

function handlingOf(
  { cache, restore_deleted }: { cache: "use" | "bypass"; restore_deleted: boolean },
  { config }: CrawlApi,
) {
  return { ...cacheHandling(cache, config), restore_deleted };
}

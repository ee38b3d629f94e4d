import { expect, test } from "vitest";
import { cachedTaskSchema, ingestFromCache } from "../../../../shared/crawl/ingest/ingest-cached.ts";
import { listJobUrls } from "../../../../shared/crawl/jobs/views.ts";
import { FIELD_PRESETS } from "../../../../shared/crawl/results/fields.ts";
import { completeConfig } from "../../../../shared/crawl/settings/crawl-config.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import { newJob, newSiteJob, page } from "../../crawl/crawl-setup.ts";
import { type ResultsSetup, resultsSetup, type Sent } from "./results-setup.ts";

/** Of each URL by its path, as results have it; as the view of the job has it, where that is not the same. */
async function reasons(setup: ResultsSetup, jobId: string): Promise<Record<string, string | undefined>> {
  const results = await setup.pages(jobId, FIELD_PRESETS.light);
  const told = results.map(({ page: { url, no_document } }) => [new URL(url).pathname, no_document] as const);
  const { urls } = await listJobUrls(setup.sql, jobId, { limit: 100 });
  const listed = urls.map(({ url, no_document }) => [new URL(url).pathname, no_document ?? undefined] as const);
  expect(Object.fromEntries(told)).toEqual(Object.fromEntries(listed));
  return Object.fromEntries(told);
}

test("a result says why its page is not searchable, as the view of the job does", async () => {
  const setup = await resultsSetup();
  const error = { code: "HTTP_404", message: "The server answered 404", retryable: false };
  const answers: Record<string, Sent> = {
    "/fine": { body: page("Fine") },
    "/hidden": { body: page("Hidden").replace("<head>", '<head><meta name="robots" content="noindex">') },
    "/french": { body: page("French").replace("<html", '<html lang="fr"') },
    "/empty": { body: "<html><head><title>Empty</title></head><body></body></html>" },
    "/gone": { body: "", status: 404, error },
  };
  const urls = Object.keys(answers).map((path) => `http://why.example${path}`);
  const serve = () => setup.serve((url) => answers[new URL(url).pathname] as Sent);

  const job = await createJob(setup.dependencies, newJob(urls));
  await serve();
  expect(await reasons(setup, job.job_id)).toEqual({
    "/fine": undefined,
    "/hidden": "noindex",
    "/french": "language",
    "/empty": "no_text",
    "/gone": undefined,
  });

  const unasked = await createJob(setup.dependencies, newJob(urls, { handling: { index: false } }));
  await serve();
  expect(await reasons(setup, unasked.job_id)).toMatchObject({ "/fine": "not_asked", "/gone": undefined });
});

test("a result that is one page too many of the same says so", async () => {
  const setup = await resultsSetup();
  const paths = Array.from({ length: 53 }, (_, index) => `/same/${index}`);
  const start = `<html><body><p>Start</p>${paths.map((path) => `<a href="${path}">${path}</a>`).join(" ")}</body></html>`;
  const job = await createJob(setup.dependencies, newSiteJob("http://many.example/"));
  await setup.serve((url) => ({ body: new URL(url).pathname === "/" ? start : page("Same") }));
  const told = Object.values(await reasons(setup, job.job_id));
  expect(told.filter((reason) => reason === "duplicate")).toHaveLength(3);
  expect(new Set(told)).toEqual(new Set([undefined, "duplicate"]));
});

test("a result says that robots.txt forbids its page, also where the job asked for it all the same, or took it again", async () => {
  const setup = await resultsSetup();
  const urls = ["/fine", "/forbidden"].map((path) => `http://robots.example${path}`);
  const told = async (cache: "use" | "bypass") => {
    const handling = { cache, cache_ttl_s: 3_600 };
    const config = completeConfig({ respect_robots_txt: false });
    const job = await createJob(setup.dependencies, newJob(urls, { config, handling }));
    await setup.serve((url) => ({ body: page(url), disallowed: url.endsWith("/forbidden") }));
    if (cache === "use") {
      const messages = await setup.aws.receive("captures", 1);
      for (const each of messages) await ingestFromCache(setup.dependencies, cachedTaskSchema.parse(each));
    }
    const results = await setup.pages(job.job_id, FIELD_PRESETS.light);
    return results.map(({ page: { url, disallowed, robots_obeyed } }) => [url, robots_obeyed, disallowed]).toSorted();
  };
  const expected = [
    [urls[0], false, false],
    [urls[1], false, true],
  ];
  expect(await told("bypass")).toEqual(expected);
  expect(await told("use")).toEqual(expected);
});

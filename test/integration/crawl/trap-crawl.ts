/** Crawls of sites that have no end. */
import type { IncomingMessage } from "node:http";
import { expect } from "vitest";
import { readJob } from "../../../shared/crawl/jobs/views.ts";
import { createJob, type NewJob } from "../../../shared/crawl/submit/create-job.ts";
import type { SiteAnswer } from "../../sites/site.ts";
import { createTraps } from "../../sites/traps.ts";
import { crawlSetup, newSiteJob, type Site } from "./crawl-setup.ts";
import { expectBooksToBalance } from "./real-crawl.ts";

export const ORIGIN = "http://a.example";

/** The endless parts of the large site, without the way there. */
function trapSite(): Site {
  const traps = createTraps();
  return (url) => {
    const answer = traps({ url: url.slice(ORIGIN.length) } as IncomingMessage) as SiteAnswer | undefined;
    if (answer === undefined) return { status: 404, error: { code: "HTTP_404", message: "gone", retryable: false } };
    return { html: String(answer.body) };
  };
}

/** Crawls without a limit that would end it: what ends is ended by the rules. */
export async function crawlTrap(path: string, site = trapSite(), overrides: Partial<NewJob> = {}) {
  const setup = await crawlSetup();
  const limits = { maxDepth: 1000, maxPages: 100_000 };
  const { job_id } = await createJob(setup.dependencies, newSiteJob(ORIGIN + path, { ...limits, ...overrides }));
  const fetched = await setup.crawl(site);
  const job = await readJob(setup.sql, job_id);
  expect(job).toMatchObject({ status: "completed", stop_reason: "completed" });
  const codes = await expectBooksToBalance(setup.sql, job_id);
  return { setup, job_id, fetched: fetched.map((url) => url.slice(ORIGIN.length)), codes };
}

/** One site crawled by one Strandline, start to keyword-searchable, with what it cost. */
import type { Instance } from "../../test/services/instance.ts";
import { cpuMs, memoryMb, treeCpuMs } from "../../test/services/processes.ts";

/** What the runtime counts of the AWS calls that it served. */
export interface Usage {
  totalCalls: number;
  totalUsd: number;
}

export interface CrawlFigures {
  jobId: string;
  pages: number;
  seconds: number;
  nodeCpuMs: number;
  postgresCpuMs: number;
  rssMb: { peak: number; now: number };
}

const FASTER_THAN_ANY_CRAWLER_RPS = 10_000;
/** Seldom, since answering costs the runtime CPU; the job itself knows when it ended. */
const POLL_MS = 1_000;
const CRAWL_TIMEOUT_MS = 1_200_000;

/** @param rps what its host may be asked in a second */
export async function runCrawl(
  instance: Instance,
  siteUrl: string,
  pages: number,
  rps = FASTER_THAN_ANY_CRAWLER_RPS,
): Promise<CrawlFigures> {
  const { pid } = instance.child;
  const nodeBefore = await cpuMs(pid);
  const treeBefore = await treeCpuMs(pid);
  const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl/deep", {
    url: siteUrl,
    max_depth: 100,
    max_pages: pages,
    config: { rate_limit_rps: rps },
  });
  const job = await instance.waitForJob(job_id, CRAWL_TIMEOUT_MS, POLL_MS);
  const seconds = (Date.parse(job.completed_at ?? "") - Date.parse(job.created_at)) / 1000;
  const nodeCpuMs = (await cpuMs(pid)) - nodeBefore;
  const postgresCpuMs = (await treeCpuMs(pid)) - treeBefore - nodeCpuMs;
  const crawled = job.counts["crawled"] ?? 0;
  if (crawled < pages) throw new Error(`only ${crawled} of ${pages} pages were crawled: ${JSON.stringify(job)}`);
  return { jobId: job_id, pages: crawled, seconds, nodeCpuMs, postgresCpuMs, rssMb: await memoryMb(pid) };
}

/**
 * Works through one discovery job and reports to the database side what came of it. It always ends: what goes wrong
 * with a source or a file becomes a note, and when the time is up it delivers what it has.
 */

import type { ObjectStore } from "../../platform/aws/objects.ts";
import type { QueueSender } from "../../platform/aws/queues.ts";
import type { Logger } from "../../platform/observability/log.ts";
import { retryTransient } from "../../platform/transient-errors.ts";
import { createCollector } from "./collector.ts";
import { COMMON_CRAWL_RPS, createCommonCrawl } from "./common-crawl.ts";
import { createFetcher, type FetcherDependencies, TimeUp } from "./fetcher.ts";
import { createNotes } from "./notes.ts";
import { writeDiscovery } from "./result.ts";
import { parseSite } from "./site.ts";
import { sitemapSource } from "./sitemap-source.ts";
import { DISCOVERED_QUEUE, type Discovered, type DiscoveryTask } from "./task.ts";
import type { SourceFault } from "./url-source.ts";

export interface DiscoverDependencies extends FetcherDependencies {
  objects: ObjectStore;
  queues: QueueSender;
  commonCrawl: {
    url: string;
    /** Requests a second; as the public server asks for where not given. */
    rps?: number;
  };
}

/** Kept of a delivery's time for writing the result, also where S3 or SQS are slow to take it. */
const RESERVE_MS = 60_000;

/** Idempotent: a second delivery finds the same again, and the job's row takes the first result. */
export async function discover(
  dependencies: DiscoverDependencies,
  task: DiscoveryTask,
  { remainingMs, log }: { remainingMs(): number; log: Logger },
): Promise<void> {
  const { clock, objects, queues, guard, commonCrawl } = dependencies;
  const { jobId } = task;
  await queues.send(DISCOVERED_QUEUE, { event: "started", jobId } satisfies Discovered);
  const end = clock.now() + remainingMs();
  const deadline = end - RESERVE_MS;
  const site = parseSite(task.domain, guard);
  const collector = createCollector({ site, inspector: guard, ...task });
  const notes = createNotes();
  const fetcher = createFetcher(dependencies, {
    signal: AbortSignal.timeout(Math.max(1, deadline - clock.now())),
    deadline,
    rates: new Map([[new URL(commonCrawl.url).host, commonCrawl.rps ?? COMMON_CRAWL_RPS]]),
  });
  const sources = { sitemap: sitemapSource, common_crawl: createCommonCrawl(commonCrawl.url) };
  const faults: SourceFault[] = [];
  try {
    for (const name of task.sources) {
      if (collector.full) break;
      const fault = await sources[name].collect({ site, fetcher, collector, notes });
      if (fault === null) continue;
      faults.push(fault);
      notes.add(name, fault.code, fault.message);
    }
  } catch (error) {
    if (!(error instanceof TimeUp)) throw error;
    notes.add(task.domain, "TIME_LIMIT", "The time of the discovery was up: the result is what was found by then");
  }
  const urls = collector.urls();
  if (collector.overflowed || (collector.full && urls.length === task.maxUrls)) {
    notes.add(task.domain, "MAX_URLS", `There may be more than the ${task.maxUrls} URLs that max_urls allows`);
  }
  const failed = urls.length === 0 && faults.length === task.sources.length;
  const resultKey =
    urls.length === 0 ? null : await retryTransient(clock, { until: end }, () => writeDiscovery(objects, jobId, urls));
  const message: Discovered = {
    event: "ended",
    jobId,
    error: failed ? faults.map(({ code, message }) => `${code}: ${message}`).join("; ") : null,
    urlsFound: urls.length,
    resultKey,
    notes: notes.all(),
  };
  await retryTransient(clock, { until: end }, () => queues.send(DISCOVERED_QUEUE, message));
  log.info("discovered", { job_id: jobId, urls: urls.length, notes: message.notes.length, failed });
}

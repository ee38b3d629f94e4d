/**
 * Runs the fetch handler alone on `PAGES` pages of `SITE` in tasks of 50, and prints the CPU of this process per page.
 */

import type { Context, SQSEvent } from "aws-lambda";
import { handler } from "../../functions/fetch/handler.ts";
import { crawlConfigSchema } from "../../shared/crawl/settings/crawl-config.ts";
import { type FetchTask, MAX_URLS_PER_TASK } from "../../shared/crawl/tasks/fetch-task.ts";
import { urlHash } from "../../shared/crawl/urls/normalize-url.ts";
import { hostScope } from "../../shared/crawl/urls/scope.ts";
import { uuidv7 } from "../../shared/platform/ids.ts";

const site = new URL(process.env["SITE"] ?? "");
const pages = Number(process.env["PAGES"]);
/** So that modules are compiled and connections open before the clock starts. */
const WARM_UP_TASKS = 4;

function task(first: number, count: number): FetchTask {
  const urls = Array.from({ length: count }, (_, at) => new URL(`/page/${first + at}`, site).href);
  return {
    taskId: uuidv7(),
    jobId,
    priority: "normal",
    host: site.host,
    scope: hostScope(site.host),
    deadline: null,
    concurrency: null,
    announce: true,
    anchors: false,
    deferrals: 0,
    config: crawlConfigSchema.parse({ rate_limit_rps: 10_000 }),
    urls: urls.map((url) => ({ url, urlHash: urlHash(url), depth: 1, attempt: 0, prior: null })),
  };
}

function eventOf(body: FetchTask): SQSEvent {
  const now = String(Date.now());
  return {
    Records: [
      {
        messageId: uuidv7(),
        receiptHandle: "none",
        body: JSON.stringify(body),
        attributes: {
          ApproximateReceiveCount: "1",
          SentTimestamp: now,
          SenderId: "bench",
          ApproximateFirstReceiveTimestamp: now,
        },
        messageAttributes: {},
        md5OfBody: "",
        eventSource: "aws:sqs",
        eventSourceARN: "arn:aws:sqs:us-east-1:000000000000:fetch-normal",
        awsRegion: "us-east-1",
      },
    ],
  };
}

const context = { getRemainingTimeInMillis: () => 300_000, awsRequestId: uuidv7() } as Context;
const jobId = uuidv7();

async function fetchPages(first: number, count: number): Promise<void> {
  for (let at = first; at < first + count; at += MAX_URLS_PER_TASK) {
    const size = Math.min(MAX_URLS_PER_TASK, first + count - at);
    const { batchItemFailures } = await handler(eventOf(task(at, size)), context);
    if (batchItemFailures.length > 0) throw new Error("the fetch stage failed");
  }
}

await fetchPages(0, Math.min(pages, WARM_UP_TASKS * MAX_URLS_PER_TASK));
const before = process.cpuUsage();
await fetchPages(0, pages);
const { user, system } = process.cpuUsage(before);
process.stdout.write(`${JSON.stringify({ fetch_cpu_ms_per_page: (user + system) / 1000 / pages })}\n`);
process.exit(0);

/** A crawl without its fetcher: real database, bucket and state; tests answer the fetch tasks themselves. */
import { ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import { type Capture, captureSchema } from "../../../shared/capture/capture.ts";
import { type CapturesMessage, writeCaptureBatch } from "../../../shared/capture/capture-batch.ts";
import type { IngestDependencies } from "../../../shared/crawl/ingest/dependencies.ts";
import { ingestBatch } from "../../../shared/crawl/ingest/ingest-batch.ts";
import { readJob } from "../../../shared/crawl/jobs/views.ts";
import type { sweep } from "../../../shared/crawl/recovery/sweep.ts";
import { crawlConfigSchema, selectionOf } from "../../../shared/crawl/settings/crawl-config.ts";
import type { NewJob } from "../../../shared/crawl/submit/create-job.ts";
import { type FetchTask, fetchTaskSchema } from "../../../shared/crawl/tasks/fetch-task.ts";
import { createJobFlags } from "../../../shared/crawl/tasks/job-flags.ts";
import { ANYWHERE, hostScope } from "../../../shared/crawl/urls/scope.ts";
import { extractPage } from "../../../shared/extract/extract-page.ts";
import { createObjectStore } from "../../../shared/platform/aws/objects.ts";
import type { Sql } from "../../../shared/platform/database/database.ts";
import { sha256, uuidv7 } from "../../../shared/platform/ids.ts";
import { createLogger } from "../../../shared/platform/observability/log.ts";
import { type TestAws, testAws, testAwsWithoutSqs, testDatabase } from "../../services/index.ts";

const LONGEST_RETRY_DELAY_S = 6;

export type CrawlDependencies = IngestDependencies & Parameters<typeof sweep>[0];

export interface CrawlSetupOptions {
  embedding?: { maxTokens: number } | null;
  /** Queues of the real service, in real time, where they are the point. */
  sqs?: boolean;
}

export async function crawlSetup({ embedding = null, sqs = false }: CrawlSetupOptions = {}) {
  const [{ sql, url, drop }, aws] = await Promise.all([testDatabase(), sqs ? testAws() : testAwsWithoutSqs()]);
  const lines: string[] = [];
  const dependencies: CrawlDependencies = {
    sql,
    objects: createObjectStore(aws.s3, aws.bucket),
    queues: aws.queues,
    messagesIn: aws.messagesIn,
    embeddingModel: null,
    flags: createJobFlags(aws.dynamo, aws.stateTable),
    log: createLogger({}, "debug", (line) => lines.push(line)),
    embedding,
  };
  return {
    sql,
    databaseUrl: url,
    /** For `afterAll`; a test's own setup goes with the test. */
    async close(): Promise<void> {
      await Promise.all([drop(), aws.close()]);
    },
    aws,
    dependencies,
    logged: lines,
    /** Epoch ms by the clock of the queues. */
    now: aws.now,
    /** All fetch tasks that are ready on the queues. */
    async tasks(waitS = 0): Promise<FetchTask[]> {
      const tasks: FetchTask[] = [];
      for (const queue of ["fetch-high", "fetch-normal", "fetch-low"]) {
        for (;;) {
          const messages = await aws.receive(queue, tasks.length === 0 && queue === "fetch-normal" ? waitS : 0);
          if (messages.length === 0) break;
          tasks.push(...messages.map((message) => fetchTaskSchema.parse(message)));
        }
      }
      return tasks;
    },
    /** Writes the batch that fetch would write. */
    async capture(task: FetchTask, site: Site, urls = task.urls): Promise<CapturesMessage> {
      const captures = urls.map((url) => captureOf(task, url, site));
      return {
        jobId: task.jobId,
        taskId: task.taskId,
        batchKey: await writeCaptureBatch(dependencies.objects, task.jobId, captures),
      };
    },
    async crawlTask(task: FetchTask, site: Site): Promise<void> {
      await ingestBatch(dependencies, await this.capture(task, site));
    },
    /**
     * Answers tasks from the site until no URL is open any more.
     * @returns every URL in the order it was fetched
     */
    async crawl(site: Site, deliveries = 1): Promise<string[]> {
      const fetched: string[] = [];
      for (;;) {
        const [row] = await sql<{ open: boolean }[]>`
          select exists (select from frontier where state in ('pending', 'claimed')) as open`;
        // the task of a URL that is tried again comes with a delay
        const tasks = await this.tasks(row?.open ? LONGEST_RETRY_DELAY_S : 0);
        if (tasks.length === 0) return fetched;
        await Promise.all(
          tasks.map(async (task) => {
            fetched.push(...task.urls.map((each) => each.url));
            const message = await this.capture(task, site);
            await Promise.all(Array.from({ length: deliveries }, () => ingestBatch(dependencies, message)));
          }),
        );
      }
    },
  };
}

/** The next message of a queue, as the queue service hands it to a function; undefined where none comes. */
export async function receiveRecord(aws: TestAws, queue: string, receiveCount = 1): Promise<SQSRecord | undefined> {
  const { Messages = [] } = await aws.sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: aws.queueUrlPrefix + queue,
      WaitTimeSeconds: 20,
      MessageAttributeNames: ["All"],
    }),
  );
  const [message] = Messages;
  if (message === undefined) return undefined;
  const name = (aws.queueUrlPrefix.split("/").at(-1) ?? "") + queue;
  const attributes = Object.entries(message.MessageAttributes ?? {}).map(([key, { StringValue }]) => [
    key,
    { stringValue: StringValue, dataType: "String" as const },
  ]);
  return {
    messageId: message.MessageId ?? "",
    receiptHandle: message.ReceiptHandle ?? "",
    body: message.Body ?? "",
    attributes: {
      ApproximateReceiveCount: String(receiveCount),
      SentTimestamp: "0",
      SenderId: "test",
      ApproximateFirstReceiveTimestamp: "0",
    },
    messageAttributes: Object.fromEntries(attributes),
    md5OfBody: "",
    eventSource: "aws:sqs",
    eventSourceARN: `arn:aws:sqs:us-east-1:000000000000:${name}`,
    awsRegion: "us-east-1",
  };
}

/** What a URL answers; what is not named is a page of its own. */
export interface Answer {
  html?: string;
  /** The response has redirected here. */
  finalUrl?: string;
  notModified?: boolean;
  status?: number;
  headers?: [string, string][];
  error?: Capture["error"];
}

export type Site = (url: string, task: FetchTask["urls"][number]) => Answer;

export function captureOf(task: FetchTask, asked: FetchTask["urls"][number], site: Site): Capture {
  const answer = site(asked.url, asked);
  const finalUrl = answer.finalUrl ?? asked.url;
  const { html, error = null, notModified = false } = answer;
  const context = { url: finalUrl, anchors: task.anchors, selection: selectionOf(task.config) };
  const extraction = html === undefined ? null : extractPage(html, context);
  return captureSchema.parse({
    url: asked.url,
    urlHash: asked.urlHash,
    finalUrl,
    redirects: finalUrl === asked.url ? [] : [{ url: asked.url, status: 301 }],
    depth: asked.depth,
    status: answer.status ?? (notModified ? 304 : error ? 0 : 200),
    headers: answer.headers ?? [["etag", '"1"']],
    mimeType: html === undefined ? null : "text/html",
    charset: html === undefined ? null : "UTF-8",
    fetchedAt: new Date().toISOString(),
    fetchTimeMs: 5,
    payloadBytes: html?.length ?? 0,
    payloadDigest: html === undefined ? null : `sha256:${sha256(html).toString("hex")}`,
    truncated: false,
    notModified,
    revisitOf: null,
    rendered: null,
    warc:
      html === undefined
        ? null
        : { key: `warcs/${task.taskId}/${asked.urlHash}`, offset: 0, length: 1, recordId: uuidv7() },
    extraction,
    error,
  } satisfies Capture);
}

/** An English page of some sentences, linking to `links`. */
export function page(title: string, links: readonly string[] = [], words = 120): string {
  const text = Array.from({ length: words }, (_, at) => WORDS[(at * 7 + title.length) % WORDS.length]).join(" ");
  const anchors = links.map((link) => `<li><a href="${link}">${link}</a></li>`).join("");
  return `<!doctype html><html lang="en"><head><title>${title}</title></head><body><main><h1>${title}</h1>
    <p>${title} says: ${text}.</p><h2>More of ${title}</h2><p>${text}.</p></main><nav><ul>${anchors}</ul></nav></body></html>`;
}

const WORDS =
  "the tide brings what the river carried down and leaves it along the strand where people walk in the morning to gather driftwood shells and letters that somebody wrote long ago".split(
    " ",
  );

/** A site as a table of paths; anything else is a 404. */
export function siteOf(base: string, pages: Record<string, string | Answer>): Site {
  return (url) => {
    const answer = pages[url.slice(base.length)];
    if (answer === undefined) {
      return { status: 404, error: { code: "HTTP_404", message: "The server answered 404", retryable: false } };
    }
    return typeof answer === "string" ? { html: answer } : answer;
  };
}

export const newJob = (seeds: string[], overrides: Partial<NewJob> = {}): NewJob => ({
  kind: "pages",
  seeds,
  scope: ANYWHERE,
  maxDepth: 0,
  maxPages: seeds.length,
  priority: "normal",
  config: crawlConfigSchema.parse({}),
  collectionId: null,
  tags: [],
  apiKeyId: null,
  ...overrides,
});

export const newSiteJob = (seed: string, overrides: Partial<NewJob> = {}): NewJob =>
  newJob([seed], {
    kind: "site",
    scope: hostScope(new URL(seed).host),
    maxDepth: 10,
    maxPages: 1000,
    ...overrides,
  });

/** What a crawl left behind, without ids and times, so that two runs compare. */
export async function traceOf(sql: Sql, jobId: string) {
  const job = await readJob(sql, jobId);
  const frontier = await sql`
    select url, depth, state, error_code, attempt from frontier where job_id = ${jobId} order by url`;
  const captures =
    await sql`select url, status_code, error_code from captures where job_id = ${jobId} order by url, id`;
  const documents = await sql`
    select d.url, d.title, d.generation_active, count(c.id)::int as chunks, jsonb_array_length(d.sections) as sections
    from documents d left join chunks c on c.document_id = d.id
    where d.job_id = ${jobId} group by d.id order by d.url`;
  return {
    job: job && { status: job.status, stop_reason: job.stop_reason, counts: job.counts },
    frontier: [...frontier],
    captures: [...captures],
    documents: [...documents],
  };
}

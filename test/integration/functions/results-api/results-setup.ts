/** Crawls whose answers are archived as fetch archives them: real WARC segments and capture batches, without a site. */
import { type Capture, captureSchema } from "../../../../shared/capture/capture.ts";
import { type CapturesMessage, writeCaptureBatch } from "../../../../shared/capture/capture-batch.ts";
import { labelledDigest } from "../../../../shared/capture/digest.ts";
import { newRecordId, type RevisitOf, responseRecord, revisitRecord } from "../../../../shared/capture/warc-record.ts";
import { createWarcSegment, warcSegmentKey } from "../../../../shared/capture/warc-segment.ts";
import { readPageContent } from "../../../../shared/crawl/http/read-page.ts";
import { ingestBatch } from "../../../../shared/crawl/ingest/ingest-batch.ts";
import { FIELD_PRESETS, type ResultFields } from "../../../../shared/crawl/results/fields.ts";
import { type ResultPage, readResultPages } from "../../../../shared/crawl/results/pages.ts";
import { selectionOf } from "../../../../shared/crawl/settings/crawl-config.ts";
import { type FetchTask, fetchTaskSchema } from "../../../../shared/crawl/tasks/fetch-task.ts";
import { type CrawlSetupOptions, crawlSetup } from "../../crawl/crawl-setup.ts";

/** What a server sends for a URL. */
export interface Sent {
  body: string | Uint8Array;
  status?: number;
  headers?: [string, string][];
  finalUrl?: string;
  /** Archived as a revisit record of this. */
  revisit?: { of: RevisitOf; captureId: number | null };
  truncated?: boolean;
  disallowed?: boolean;
  error?: Capture["error"];
  rendered?: Capture["rendered"];
}

export type Server = (url: string) => Sent;

export type ResultsSetup = Awaited<ReturnType<typeof resultsSetup>>;

export async function resultsSetup(options?: CrawlSetupOptions) {
  const setup = await crawlSetup(options);
  const { dependencies } = setup;
  const reader = { sql: setup.sql, objects: dependencies.objects, maxContentBytes: 1_000_000 };
  return {
    ...setup,
    reader,
    /** Writes the WARC segment and the batch that fetch would write. */
    async archive(task: FetchTask, server: Server, urls = task.urls): Promise<CapturesMessage> {
      const { jobId, taskId } = task;
      const segment = createWarcSegment(
        warcSegmentKey(jobId, taskId, 1, Date.now() % 100_000, Date.now()),
        {},
        Date.now(),
      );
      const captures = await Promise.all(urls.map((url) => captureOf(task, url, server(url.url), segment)));
      await dependencies.objects.put(segment.key, segment.contents(), "application/warc");
      return { jobId, taskId, batchKey: await writeCaptureBatch(dependencies.objects, jobId, captures) };
    },
    /** Answers all tasks until none is left. */
    async serve(server: Server): Promise<void> {
      for (;;) {
        const tasks = await setup.tasks();
        if (tasks.length === 0) return;
        for (const task of tasks) await ingestBatch(dependencies, await this.archive(task, server));
      }
    },
    /** Answers tasks as they come, until the signal. A URL without an answer is never answered. */
    async answer(server: (url: string) => Sent | undefined, until: AbortSignal): Promise<string[]> {
      const asked: string[] = [];
      while (!until.aborted) {
        const tasks = [...(await setup.aws.receive("fetch-high")), ...(await setup.aws.receive("fetch-normal"))];
        for (const task of tasks.map((message) => fetchTaskSchema.parse(message))) {
          asked.push(...task.urls.map(({ url }) => url));
          const answered = task.urls.filter(({ url }) => server(url) !== undefined);
          if (answered.length === 0) continue;
          await ingestBatch(dependencies, await this.archive(task, (url) => server(url) as Sent, answered));
        }
      }
      return asked;
    },
    async pages(
      jobId: string,
      fields: ResultFields = FIELD_PRESETS.all,
      after = 0,
      limit = 1000,
    ): Promise<ResultPage[]> {
      return await collect(readResultPages(reader, jobId, { after, limit }, fields));
    },
  };
}

async function captureOf(
  { config }: FetchTask,
  url: FetchTask["urls"][number],
  sent: Sent,
  segment: ReturnType<typeof createWarcSegment>,
): Promise<Capture> {
  const { status = 200, headers = [["content-type", "text/html"]], finalUrl = url.url, error = null } = sent;
  const body = Buffer.from(sent.body as Uint8Array);
  const recordId = newRecordId();
  const options = { url: finalUrl, date: Date.now(), recordId, truncated: sent.truncated ? ("length" as const) : null };
  const message = { startLine: `HTTP/1.1 ${status} X`, headers, body: sent.revisit ? Buffer.alloc(0) : body };
  const digest = labelledDigest(body);
  const member = sent.revisit
    ? await revisitRecord(message, sent.revisit.of, options)
    : await responseRecord(message, digest, options);
  const [warc] = segment.append([{ recordId, member }]);
  const response = { status, startLine: `HTTP/1.1 ${status} X`, headers, body, truncated: options.truncated };
  const nothing = { extraction: null, error: null, html: null };
  const selection = selectionOf(config);
  const read = async () => await readPageContent(response, finalUrl, 50_000_000, { selection });
  const { html: _, ...content } = status === 200 ? await read() : nothing;
  return captureSchema.parse({
    url: url.url,
    urlHash: url.urlHash,
    finalUrl,
    redirects: finalUrl === url.url ? [] : [{ url: url.url, status: 301 }],
    depth: url.depth,
    status,
    headers: headers.map(([name, value]) => [name.toLowerCase(), value]),
    mimeType: headers.find(([name]) => name.toLowerCase() === "content-type")?.[1]?.split(";")[0] ?? null,
    charset: null,
    fetchedAt: new Date().toISOString(),
    fetchTimeMs: 12.4,
    payloadBytes: body.length,
    payloadDigest: digest,
    truncated: sent.truncated ?? false,
    disallowed: sent.disallowed,
    notModified: status === 304,
    revisitOf: sent.revisit?.captureId ?? null,
    rendered: sent.rendered ?? null,
    warc: warc ?? null,
    ...content,
    error: error ?? content.error,
  });
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

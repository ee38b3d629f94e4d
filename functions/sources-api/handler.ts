/** The routes that create, list, replace and delete monitored sources, and crawl them when somebody asks. */
import { z } from "zod";
import { noteSchema } from "../../shared/crawl/discovery/task.ts";
import { listRuns, runSource, type SourceRun } from "../../shared/crawl/sources/run-source.ts";
import { tellSchedule } from "../../shared/crawl/sources/schedule-source.ts";
import {
  createSource,
  deleteSource,
  listSources,
  readSource,
  replaceSource,
} from "../../shared/crawl/sources/sources.ts";
import { once } from "../../shared/platform/once.ts";
import { createApi } from "../adapters/api/api.ts";
import { createJobContainer, type JobContainer } from "../adapters/api/container.ts";
import { cursorPage, cursorParameter } from "../adapters/api/cursor.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { defineRoute } from "../adapters/api/route.ts";
import { checkedUrl } from "../adapters/crawling/checked-url.ts";
import { jobCountsSchema } from "../adapters/crawling/job-counts.ts";
import { resolveOptions } from "../adapters/crawling/job-options.ts";
import { inputOf, nextRuns, sourceJson, sourceRequestSchema, sourceSchema } from "./source-json.ts";

/** With the source itself. */
const SHOWN_FIRINGS = 5;
const SHOWN_RUNS = 10;

const params = z.strictObject({ source_id: z.uuid() });
const statusSchema = z.enum(["pending", "running", "embedding", "completed", "failed", "cancelled"]);

const create = defineRoute(
  {
    method: "POST",
    path: "/api/v1/sources",
    scope: "write",
    idempotent: true,
    summary: "Monitor a page, a site, a feed or a sitemap: crawl it by a schedule, or when somebody asks",
    body: sourceRequestSchema,
    status: 201,
    response: sourceSchema,
  },
  async ({ body, caller, reservedId }, dependencies: JobContainer) => {
    const url = checkedUrl(dependencies.inspector, body.url, "url");
    await resolveOptions(dependencies, body, caller);
    // before the commit: the sweep is to be awake for what is lost after it
    await dependencies.flags.markActive();
    const source = await createSource(dependencies.sql, inputOf(body, url), caller.keyId, reservedId("source"));
    if (source.is_active && source.schedule_cron !== null) await tellSchedule(dependencies, source);
    return sourceJson(source, caller, Date.now());
  },
);

const list = defineRoute(
  {
    method: "GET",
    path: "/api/v1/sources",
    scope: "read",
    summary: "The monitored sources, newest first",
    query: z.strictObject({
      limit: numberParameter(z.int().min(1).max(200).default(50)),
      cursor: cursorParameter(z.uuid()),
    }),
    response: z.object({ items: z.array(sourceSchema), next_cursor: z.string().nullable(), has_more: z.boolean() }),
  },
  async ({ query: { limit, cursor }, caller }, { sql }: JobContainer) => {
    const found = await listSources(sql, { limit: limit + 1, after: cursor });
    const now = Date.now();
    return cursorPage(
      found.map((each) => sourceJson(each, caller, now)),
      limit,
      ({ id }) => id,
    );
  },
);

const runSchema = z.object({
  job_id: z.uuid(),
  status: statusSchema,
  /** null until the job has ended. */
  stop_reason: z.string().nullable(),
  error: z.string().nullable(),
  counts: jobCountsSchema,
  /** What its list came to; null unless the source is a feed or a sitemap, and until that is read. */
  list: z
    .object({
      documents_read: z.int(),
      /** Not sent, or not read again. */
      documents_unchanged: z.int(),
      /** In what was read. */
      entries: z.int(),
      /** New or changed ones, which the job crawls. */
      taken: z.int(),
      /** Those that did not fit: they are due at the next run. */
      left: z.int(),
      notes: z.array(noteSchema),
    })
    .nullable(),
  created_at: z.iso.datetime(),
  completed_at: z.iso.datetime().nullable(),
});

const show = defineRoute(
  {
    method: "GET",
    path: "/api/v1/sources/{source_id}",
    scope: "read",
    summary: "A monitored source, with its latest jobs and when it is crawled next",
    params,
    response: sourceSchema.extend({ next_runs: z.array(z.iso.datetime()), runs: z.array(runSchema) }),
  },
  async ({ params: { source_id }, caller }, { sql }: JobContainer) => {
    const source = await readSource(sql, source_id);
    const now = Date.now();
    const runs = await listRuns(sql, source_id, { limit: SHOWN_RUNS });
    return {
      ...sourceJson(source, caller, now),
      next_runs: nextRuns(source, now, SHOWN_FIRINGS),
      runs: runs.map(runJson),
    };
  },
);

const runJson = ({ job_id, status, stop_reason, error, counts, list, created_at, completed_at }: SourceRun) => ({
  job_id,
  status,
  stop_reason,
  error,
  counts,
  list,
  created_at: created_at.toISOString(),
  completed_at: completed_at?.toISOString() ?? null,
});

const history = defineRoute(
  {
    method: "GET",
    path: "/api/v1/sources/{source_id}/runs",
    scope: "read",
    summary: "The jobs that crawled a monitored source, newest first",
    params,
    query: z.strictObject({
      limit: numberParameter(z.int().min(1).max(200).default(50)),
      cursor: cursorParameter(z.uuid()),
    }),
    response: z.object({ items: z.array(runSchema), next_cursor: z.string().nullable(), has_more: z.boolean() }),
  },
  async ({ params: { source_id }, query: { limit, cursor } }, { sql }: JobContainer) => {
    await readSource(sql, source_id);
    const found = await listRuns(sql, source_id, { limit: limit + 1, after: cursor });
    return cursorPage(found.map(runJson), limit, ({ job_id }) => job_id);
  },
);

const replace = defineRoute(
  {
    method: "PUT",
    path: "/api/v1/sources/{source_id}",
    scope: "write",
    summary: "Replace a monitored source; is_active pauses its schedule, and a job that runs goes on as it began",
    params,
    body: sourceRequestSchema,
    response: sourceSchema,
  },
  async ({ params: { source_id }, body, caller }, dependencies: JobContainer) => {
    const url = checkedUrl(dependencies.inspector, body.url, "url");
    await resolveOptions(dependencies, body, caller);
    await dependencies.flags.markActive();
    const source = await replaceSource(dependencies.sql, source_id, inputOf(body, url));
    await tellSchedule(dependencies, source);
    return sourceJson(source, caller, Date.now());
  },
);

const remove = defineRoute(
  {
    method: "DELETE",
    path: "/api/v1/sources/{source_id}",
    scope: "write",
    summary: "Monitor a source no longer; its jobs and what they crawled stay",
    params,
    status: 204,
    response: z.null(),
  },
  async ({ params: { source_id } }, dependencies: JobContainer) => {
    await dependencies.flags.markActive();
    await tellSchedule(dependencies, await deleteSource(dependencies.sql, source_id));
    return null;
  },
);

const trigger = defineRoute(
  {
    method: "POST",
    path: "/api/v1/sources/{source_id}/trigger",
    scope: "write",
    idempotent: true,
    summary: "Crawl a monitored source now, unless its latest job still runs",
    params,
    status: 202,
    response: z.object({ job_id: z.uuid(), status: statusSchema }),
  },
  async ({ params: { source_id }, caller, reservedId }, dependencies: JobContainer) => {
    const source = await readSource(dependencies.sql, source_id);
    // the guard's rules may have changed since
    checkedUrl(dependencies.inspector, source.url, "url");
    const { job_id, status } = await runSource(dependencies, source, {
      id: reservedId("job"),
      apiKeyId: caller.keyId,
    });
    return { job_id, status };
  },
);

export const api = createApi(
  "sources-api",
  [create, list, show, history, replace, remove, trigger],
  once(() => createJobContainer("sources-api")),
);
export const handler = api.handler;

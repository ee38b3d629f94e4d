/** The routes by which archive jobs are made, watched and seen to. */
import { z } from "zod";
import { compareAllAgain } from "../../shared/archive/changes/compute-changes.ts";
import {
  countByStatus,
  createArchiveJob,
  listArchiveJobs,
  listJobSnapshots,
  onceOfRequest,
  planJob,
  readArchiveJob,
  retryArchiveJob,
} from "../../shared/archive/editions/archive-jobs.ts";
import { cleanUpJob } from "../../shared/archive/editions/clean-up.ts";
import { compareSourceAgain, indexArchiveJob } from "../../shared/archive/editions/index-job.ts";
import { JOB_STATUSES } from "../../shared/archive/editions/job-status.ts";
import { registerFiles } from "../../shared/archive/editions/register-files.ts";
import { seedsSchema, sourceCodeSchema } from "../../shared/archive/editions/source.ts";
import { readSource } from "../../shared/archive/editions/sources.ts";
import { reportStorage } from "../../shared/archive/editions/storage.ts";
import { toolOverridesSchema } from "../../shared/archive/editions/tool-options.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { orNull } from "../adapters/api/or-null.ts";
import { defineRoute } from "../adapters/api/route.ts";
import { incomingKeySchema } from "../adapters/archive/incoming-key.ts";
import type { EditionsApi } from "./dependencies.ts";
import {
  jobDetailJson,
  jobDetailSchema,
  jobSnapshotJson,
  jobSnapshotSchema,
  jobSummaryJson,
  jobSummarySchema,
  plannedJobJson,
  plannedJobSchema,
} from "./job-json.ts";

const params = z.strictObject({ id: numberParameter(z.int().positive().max(Number.MAX_SAFE_INTEGER)) });
const paging = {
  limit: numberParameter(z.int().min(1).max(500).default(50)),
  offset: numberParameter(z.int().min(0).max(1_000_000_000).default(0)),
};
const source = z
  .string()
  .transform((text) => text.toLowerCase())
  .pipe(sourceCodeSchema);
const name = z.string().min(1).max(200);

const list = defineRoute(
  {
    method: "GET",
    path: "/api/admin/jobs",
    scope: "admin",
    summary: "Archive jobs, newest first",
    query: z.object({ source: source.optional(), status: z.enum(JOB_STATUSES).optional(), ...paging }),
    response: z.object({ items: z.array(jobSummarySchema), total: z.int(), limit: z.int(), offset: z.int() }),
  },
  async ({ query: { limit, offset, ...filter } }, { sql }: EditionsApi) => {
    const { total, jobs } = await listArchiveJobs(sql, filter, { limit, offset });
    return { items: jobs.map(jobSummaryJson), total, limit, offset };
  },
);

const statusCounts = defineRoute(
  {
    method: "GET",
    path: "/api/admin/jobs/status-counts",
    scope: "admin",
    summary: "How many archive jobs are in which state",
    response: z.object({ counts: z.record(z.string(), z.int()) }),
  },
  async (_, { sql }: EditionsApi) => ({ counts: await countByStatus(sql) }),
);

const newJobSchema = z.strictObject({
  source,
  /** In place of what the template of the source makes. */
  name: orNull(name),
  extraSeeds: orNull(seedsSchema),
  toolOptions: orNull(toolOverridesSchema),
  passthroughArgs: orNull(z.array(z.string())),
});

const planned = (body: z.output<typeof newJobSchema>, { sql, inspector }: EditionsApi) =>
  planJob(sql, body, { inspector, now: new Date() });

const create = defineRoute(
  {
    method: "POST",
    path: "/api/admin/jobs",
    scope: "admin",
    idempotent: true,
    summary: "Make an archive job of a source: it begins within a minute",
    body: newJobSchema,
    status: 201,
    response: jobDetailSchema,
  },
  async ({ body, caller, log, reservedId }, api: EditionsApi) => {
    const requestId = reservedId("archive job");
    const job = await onceOfRequest(api.sql, requestId, async () =>
      createArchiveJob(api, await planned(body, api), caller.keyId, requestId),
    );
    log.info("an archive job was made", { archive_job_id: job.id, source: job.sourceCode, by: caller.keyId });
    return jobDetailJson(job);
  },
);

const validate = defineRoute(
  {
    method: "POST",
    path: "/api/admin/jobs/validate-config",
    scope: "admin",
    summary: "What such an archive job would be, without making it",
    body: newJobSchema,
    response: plannedJobSchema,
  },
  async ({ body }, api: EditionsApi) => plannedJobJson(await planned(body, api)),
);

const MOST_FILES = 1_000;

const register = defineRoute(
  {
    method: "POST",
    path: "/api/admin/jobs/register",
    scope: "admin",
    idempotent: true,
    summary:
      "Make an archive job of WARC or WACZ files that lie in the bucket: they are indexed, and belong to its source",
    body: z.strictObject({
      source,
      name: orNull(name),
      keys: z
        .array(incomingKeySchema)
        .min(1)
        .max(MOST_FILES)
        .refine((keys) => new Set(keys).size === keys.length, "has a key twice"),
    }),
    status: 201,
    response: jobDetailSchema,
  },
  async ({ body: { keys, ...rest }, caller, log, reservedId }, api: EditionsApi) => {
    const requestId = reservedId("archive job");
    const job = await onceOfRequest(api.sql, requestId, async () => {
      const objects = [];
      await readSource(api.sql, rest.source);
      for (const key of keys) {
        const object = await api.uploads.head(key);
        if (object === undefined)
          throw new ApiError(404, `There is no object ${key} in the bucket`, { code: "NOT_FOUND" });
        objects.push({ key, ...object });
      }
      const registration = { ...rest, objects, apiKeyId: caller.keyId, requestId };
      return await registerFiles({ ...api, log }, registration, new Date());
    });
    log.info("WARC files were registered", { archive_job_id: job.id, files: keys.length, by: caller.keyId });
    return jobDetailJson(job);
  },
);

const show = defineRoute(
  {
    method: "GET",
    path: "/api/admin/jobs/{id}",
    scope: "admin",
    summary: "One archive job",
    params,
    response: jobDetailSchema,
  },
  async ({ params: { id } }, { sql }: EditionsApi) => jobDetailJson(await readArchiveJob(sql, id)),
);

const snapshots = defineRoute(
  {
    method: "GET",
    path: "/api/admin/jobs/{id}/snapshots",
    scope: "admin",
    summary: "The snapshots of an archive job, newest first",
    params,
    query: z.object(paging),
    response: z.array(jobSnapshotSchema),
  },
  async ({ params: { id }, query }, { sql }: EditionsApi) => {
    await readArchiveJob(sql, id);
    return (await listJobSnapshots(sql, id, query)).map(jobSnapshotJson);
  },
);

const retry = defineRoute(
  {
    method: "POST",
    path: "/api/admin/jobs/{id}/retry",
    scope: "admin",
    summary: "Crawl a failed job again, or index an index_failed one again",
    params,
    body: z.strictObject({}),
    response: jobDetailSchema,
  },
  async ({ params: { id } }, api: EditionsApi) => jobDetailJson(await retryArchiveJob(api, id)),
);

const index = defineRoute(
  {
    method: "POST",
    path: "/api/admin/jobs/{id}/index",
    scope: "admin",
    summary: "Index and compare anew what a job has captured",
    params,
    body: z.strictObject({}),
    status: 202,
    response: jobDetailSchema,
  },
  async ({ params: { id } }, api: EditionsApi) => jobDetailJson(await indexArchiveJob(api, id)),
);

const cleanup = defineRoute(
  {
    method: "POST",
    path: "/api/admin/jobs/{id}/cleanup",
    scope: "admin",
    summary: "Delete the temporary files of a job that is done with, unless anything depends on them",
    params,
    body: z.strictObject({ mode: z.literal("temp").default("temp"), dryRun: z.boolean().default(false) }),
    response: z.object({ job: jobDetailSchema, files: z.int(), bytes: z.int(), dryRun: z.boolean() }),
  },
  async ({ params: { id }, body: { dryRun }, caller, log }, api: EditionsApi) => {
    const { job, ...rest } = await cleanUpJob(api, id, { dryRun });
    if (!dryRun) log.info("an archive job was cleaned up", { archive_job_id: id, ...rest, by: caller.keyId });
    return { job: jobDetailJson(job), ...rest };
  },
);

const storage = defineRoute(
  {
    method: "GET",
    path: "/api/admin/storage",
    scope: "admin",
    summary: "What sources and their archive jobs take in the bucket, counted anew",
    response: z.object({
      items: z.array(
        z.object({
          sourceCode: z.string(),
          jobs: z.int(),
          warcFileCount: z.int(),
          warcBytesTotal: z.int(),
          temporaryBytes: z.int(),
          cleanedJobs: z.int(),
        }),
      ),
      warcFileCount: z.int(),
      warcBytesTotal: z.int(),
    }),
  },
  async (_, api: EditionsApi) => await reportStorage(api),
);

const compute = defineRoute(
  {
    method: "POST",
    path: "/api/admin/changes/compute",
    scope: "admin",
    summary: "Have captures compared again, of one source or all: events whose captures are the same stay as they are",
    body: z.strictObject({ source: orNull(source) }),
    status: 202,
    response: z.object({ pages: z.int().nullable() }),
  },
  async ({ body: { source: code } }, api: EditionsApi) => {
    if (code !== undefined) return { pages: await compareSourceAgain(api, (await readSource(api.sql, code)).code) };
    await api.flags.markActive();
    await compareAllAgain(api.sql);
    return { pages: null };
  },
);

export const jobRoutes = [
  list,
  statusCounts,
  create,
  validate,
  register,
  show,
  snapshots,
  retry,
  index,
  cleanup,
  storage,
  compute,
];

/** The routes by which jobs leave as WACZ files. */
import { z } from "zod";
import {
  createExport,
  deleteExport,
  type ExportView,
  listExports,
  noExport,
  readExport,
} from "../../shared/archive/wacz/exports.ts";
import { selectionSchema } from "../../shared/archive/wacz/selection.ts";
import { isFinished, peekJob } from "../../shared/crawl/jobs/lifecycle.ts";
import { inTransaction } from "../../shared/platform/database/database.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { createApi } from "../adapters/api/api.ts";
import { cursorPage, cursorParameter } from "../adapters/api/cursor.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { defineRoute } from "../adapters/api/route.ts";
import { type ExportsApi, exportsApi } from "./dependencies.ts";

const exportSchema = z.object({
  id: z.uuid(),
  job_id: z.uuid().nullable(),
  selection: selectionSchema.nullable(),
  status: z.enum(["pending", "running", "completed", "failed"]),
  error: z.string().nullable(),
  filename: z.string(),
  bytes: z.int().nullable(),
  sha256: z.string().nullable(),
  records: z.int(),
  pages: z.int(),
  created_at: z.iso.datetime(),
  completed_at: z.iso.datetime().nullable(),
});

function exportJson({ id, jobId, key, createdAt, completedAt, ...view }: ExportView): z.infer<typeof exportSchema> {
  const { selection, status, error, bytes, sha256, records, pages } = view;
  return {
    id,
    job_id: jobId,
    selection,
    status,
    error,
    filename: key.split("/").at(-1) ?? "",
    bytes,
    sha256,
    records,
    pages,
    created_at: createdAt.toISOString(),
    completed_at: completedAt?.toISOString() ?? null,
  };
}

const create = defineRoute(
  {
    method: "POST",
    path: "/api/v1/exports",
    scope: "write",
    summary: "Export as one WACZ file what a job has captured, or what the archive has of a URL, a host or a domain",
    body: z.union([z.strictObject({ job_id: z.uuid() }), selectionSchema]),
    status: 202,
    idempotent: true,
    response: exportSchema,
  },
  async ({ body, caller, log, reservedId }, dependencies: ExportsApi) => {
    const id = reservedId("export");
    if (!("job_id" in body)) {
      const made = await createExport({ ...dependencies, log }, { id, selection: body, apiKeyId: caller.keyId });
      log.info("an export was asked for", { export_id: made.id, by: caller.keyId });
      return exportJson(made);
    }
    const jobId = body.job_id;
    const job = await inTransaction(dependencies.sql, (tx) => peekJob(tx, jobId));
    if (job === undefined) throw new ApiError(404, `There is no job ${jobId}`, { code: "NOT_FOUND" });
    if (!isFinished(job.status)) {
      throw new ApiError(409, `The job ${jobId} has not ended: export it then`, { code: "JOB_UNFINISHED" });
    }
    const made = await createExport({ ...dependencies, log }, { id, jobId, apiKeyId: caller.keyId });
    log.info("an export was asked for", { export_id: made.id, job_id: jobId, by: caller.keyId });
    return exportJson(made);
  },
);

const list = defineRoute(
  {
    method: "GET",
    path: "/api/v1/exports",
    scope: "read",
    summary: "Exports, newest first",
    query: z.strictObject({
      limit: numberParameter(z.int().min(1).max(200).default(50)),
      cursor: cursorParameter(z.uuid()),
    }),
    response: z.object({ items: z.array(exportSchema), next_cursor: z.string().nullable(), has_more: z.boolean() }),
  },
  async ({ query: { limit, cursor } }, { sql }: ExportsApi) => {
    const found = await listExports(sql, { limit: limit + 1, after: cursor });
    return cursorPage(found.map(exportJson), limit, ({ id }) => id);
  },
);

const show = defineRoute(
  {
    method: "GET",
    path: "/api/v1/exports/{id}",
    scope: "read",
    summary: "One export: how it goes, and where its file is to be had",
    params: z.strictObject({ id: z.uuid() }),
    response: exportSchema.extend({
      download: z.object({ url: z.url(), expires_at: z.iso.datetime() }).nullable(),
    }),
  },
  async ({ params: { id } }, { sql, links }: ExportsApi) => {
    const view = await readExport(sql, id);
    if (view === undefined) throw noExport(id);
    if (view.status !== "completed") return { ...exportJson(view), download: null };
    const { url, expiresAt } = await links.linkTo(view.key);
    return { ...exportJson(view), download: { url, expires_at: new Date(expiresAt).toISOString() } };
  },
);

const remove = defineRoute(
  {
    method: "DELETE",
    path: "/api/v1/exports/{id}",
    scope: "write",
    summary: "Delete an export that has ended, with its file; what it was made of stays",
    params: z.strictObject({ id: z.uuid() }),
    status: 204,
    response: z.null(),
  },
  async ({ params: { id }, caller, log }, dependencies: ExportsApi) => {
    await deleteExport(dependencies, id);
    log.info("an export was deleted", { export_id: id, by: caller.keyId });
    return null;
  },
);

export const api = createApi("exports-api", [list, create, show, remove], exportsApi);
export const handler = api.handler;

/** The routes by which the WARC files of the archive are listed, verified, consolidated and cleaned. */
import { z } from "zod";
import {
  createRun,
  listRuns,
  newRunSchema,
  RUN_KINDS,
  type RunView,
  readFaults,
  readRun,
} from "../../shared/archive/files/runs.ts";
import { listWarcFiles } from "../../shared/archive/files/warc-files.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { cursorPage, cursorParameter } from "../adapters/api/cursor.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { defineRoute } from "../adapters/api/route.ts";
import type { ArchiveApi } from "./dependencies.ts";

const fileSchema = z.object({
  key: z.string(),
  bytes: z.int(),
  sha256: z.string().nullable(),
  records: z.int().nullable(),
  captures: z.int(),
  faults: z.int().nullable(),
  writtenAt: z.iso.datetime(),
  verifiedAt: z.iso.datetime().nullable(),
  mergedInto: z.string().nullable(),
  mergedOffset: z.int().nullable(),
  unusedSince: z.iso.datetime().nullable(),
  removedAt: z.iso.datetime().nullable(),
});

const runSchema = z.object({
  id: z.uuid(),
  kind: z.enum(RUN_KINDS),
  options: z.record(z.string(), z.unknown()),
  status: z.enum(["pending", "running", "completed", "failed"]),
  error: z.string().nullable(),
  counts: z.record(z.string(), z.int()),
  faultCount: z.int(),
  createdAt: z.iso.datetime(),
  completedAt: z.iso.datetime().nullable(),
});

const MOST_FAULTS = 1000;
const pageQuery = { limit: numberParameter(z.int().min(1).max(1000).default(100)) };
const text = (time: Date | null): string | null => time?.toISOString() ?? null;

const runJson = ({ faults, createdAt, completedAt, ...view }: RunView): z.infer<typeof runSchema> => ({
  ...view,
  faultCount: faults,
  createdAt: createdAt.toISOString(),
  completedAt: text(completedAt),
});

const files = defineRoute(
  {
    method: "GET",
    path: "/api/admin/warc-files",
    scope: "admin",
    summary: "The WARC files of the archive, and how many captures point at each",
    query: z.strictObject({
      ...pageQuery,
      unused: z
        .enum(["true", "false"])
        .transform((value) => value === "true")
        .optional(),
      cursor: cursorParameter(z.string()),
    }),
    response: z.object({ items: z.array(fileSchema), next_cursor: z.string().nullable(), has_more: z.boolean() }),
  },
  async ({ query: { limit, unused, cursor } }, { sql }: ArchiveApi) => {
    const found = await listWarcFiles(sql, { limit: limit + 1, after: cursor, unused });
    const items = found.map(({ writtenAt, verifiedAt, unusedSince, removedAt, ...file }) => ({
      ...file,
      writtenAt: writtenAt.toISOString(),
      verifiedAt: text(verifiedAt),
      unusedSince: text(unusedSince),
      removedAt: text(removedAt),
    }));
    return cursorPage(items, limit, ({ key }) => key);
  },
);

const runs = defineRoute(
  {
    method: "GET",
    path: "/api/admin/warc-runs",
    scope: "admin",
    summary: "Work on the WARC files, newest first",
    query: z.strictObject({ ...pageQuery, cursor: cursorParameter(z.uuid()) }),
    response: z.object({ items: z.array(runSchema), next_cursor: z.string().nullable(), has_more: z.boolean() }),
  },
  async ({ query: { limit, cursor } }, { sql }: ArchiveApi) => {
    const found = await listRuns(sql, { limit: limit + 1, after: cursor });
    return cursorPage(found.map(runJson), limit, ({ id }) => id);
  },
);

const create = defineRoute(
  {
    method: "POST",
    path: "/api/admin/warc-runs",
    scope: "admin",
    summary: "Verify the WARC files, copy small ones into large ones, or delete those that nothing needs",
    body: newRunSchema,
    status: 202,
    idempotent: true,
    response: runSchema,
  },
  async ({ body, caller, log, reservedId }, dependencies: ArchiveApi) => {
    const run = await createRun({ ...dependencies, log }, body, caller.keyId, reservedId("run"));
    log.info("work on the WARC files was asked for", { run_id: run.id, kind: run.kind, by: caller.keyId });
    return runJson(run);
  },
);

const show = defineRoute(
  {
    method: "GET",
    path: "/api/admin/warc-runs/{id}",
    scope: "admin",
    summary: "One such piece of work: how it goes, and what was wrong with which file",
    params: z.strictObject({ id: z.uuid() }),
    response: runSchema.extend({
      faults: z.array(z.object({ key: z.string(), code: z.string(), message: z.string(), offset: z.int().nullable() })),
    }),
  },
  async ({ params: { id } }, { sql }: ArchiveApi) => {
    const run = await readRun(sql, id);
    if (run === undefined) throw new ApiError(404, `There is no run ${id}`, { code: "NOT_FOUND" });
    return { ...runJson(run), faults: await readFaults(sql, id, MOST_FAULTS) };
  },
);

export const warcFileRoutes = [files, runs, create, show];

/** The routes by which visitors tell of the archive, and administrators read it. */
import { z } from "zod";
import {
  listReports,
  newReportSchema,
  REPORT_CATEGORIES,
  REPORT_STATUSES,
  type Report,
  readReport,
  takeReport,
} from "../../shared/archive/editions/reports.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { sha256 } from "../../shared/platform/ids.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { defineRoute } from "../adapters/api/route.ts";
import { defineStreamRoute } from "../adapters/api/stream-route.ts";
import { noteUse } from "../adapters/archive/noted-use.ts";
import { requireFeature } from "../adapters/archive/switched-off.ts";
import { type EditionsApi, editionsApi } from "./dependencies.ts";

/** Of one address, a minute. */
const MOST_REPORTS = 5;

const create = defineStreamRoute(
  {
    method: "POST",
    path: "/api/reports",
    scope: "write",
    open: () => editionsApi().config.archivePublic,
    summary: `Tell those who look after the archive of something; at most ${MOST_REPORTS} a minute`,
    body: newReportSchema,
    status: 201,
    response: z.object({ reportId: z.int(), status: z.enum(REPORT_STATUSES), receivedAt: z.iso.datetime() }),
  },
  async ({ body, event, log }, api: EditionsApi) => {
    const { sql, limiter } = api;
    requireFeature(api.config, "reports");
    const address = event?.requestContext?.identity?.sourceIp ?? "";
    // no address is kept, not for the minute either
    const rate = await limiter.take(`report#${sha256(address).toString("base64url").slice(0, 22)}`, MOST_REPORTS);
    if (rate.exceeded) {
      const seconds = Math.max(1, Math.ceil((rate.resetAt - Date.now()) / 1000));
      throw new ApiError(429, `${MOST_REPORTS} reports a minute are the most: try again in ${seconds} s`, {
        code: "RATE_LIMITED",
        headers: { "retry-after": String(seconds) },
      });
    }
    const { id, kept, receivedAt } = await takeReport(sql, body);
    if (kept) await noteUse(api, { reportSubmissions: 1 });
    log.info(kept ? "a report was taken" : "a report of no person was dropped", { category: body.category });
    return { reportId: id, status: "new" as const, receivedAt: receivedAt.toISOString() };
  },
);

const reportSchema = z.object({
  id: z.int(),
  category: z.enum(REPORT_CATEGORIES),
  status: z.enum(REPORT_STATUSES),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  snapshotId: z.int().nullable(),
  originalUrl: z.string().nullable(),
  pageUrl: z.string().nullable(),
  reporterEmail: z.string().nullable(),
  description: z.string(),
  internalNotes: z.string().nullable(),
});

const reportJson = ({ createdAt, updatedAt, ...rest }: Report): z.infer<typeof reportSchema> => ({
  ...rest,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
});

const list = defineRoute(
  {
    method: "GET",
    path: "/api/admin/reports",
    scope: "admin",
    summary: "Reports, newest first",
    query: z.object({
      status: z.enum(REPORT_STATUSES).optional(),
      category: z.enum(REPORT_CATEGORIES).optional(),
      limit: numberParameter(z.int().min(1).max(500).default(50)),
      offset: numberParameter(z.int().min(0).max(1_000_000_000).default(0)),
    }),
    response: z.object({ items: z.array(reportSchema), total: z.int(), limit: z.int(), offset: z.int() }),
  },
  async ({ query: { limit, offset, ...filter } }, { sql }: EditionsApi) => {
    const { total, reports } = await listReports(sql, filter, { limit, offset });
    return { items: reports.map(reportJson), total, limit, offset };
  },
);

const show = defineRoute(
  {
    method: "GET",
    path: "/api/admin/reports/{id}",
    scope: "admin",
    summary: "One report",
    params: z.strictObject({ id: numberParameter(z.int().positive().max(Number.MAX_SAFE_INTEGER)) }),
    response: reportSchema,
  },
  async ({ params: { id } }, { sql }: EditionsApi) => {
    const found = await readReport(sql, id);
    if (found === undefined) throw new ApiError(404, `There is no report ${id}`, { code: "NOT_FOUND" });
    return reportJson(found);
  },
);

export const reportRoutes = [create, list, show];

/** What visitors tell of the archive, for those who look after it. */
import { z } from "zod";
import type { Queryable } from "../../platform/database/database.ts";

export const REPORT_CATEGORIES = [
  "broken_snapshot",
  "incorrect_metadata",
  "missing_snapshot",
  "takedown",
  "general_feedback",
] as const;
export const REPORT_STATUSES = ["new", "triaged", "resolved", "dismissed"] as const;

/** As visitors write it: forms send what was left out as an empty text. */
const written = (most: number) =>
  z
    .string()
    .trim()
    .max(most)
    .transform((text) => (text === "" ? null : text))
    .nullish();

/** Of a page, with or without its scheme. */
const isWebAddress = (text: string): boolean => {
  const url = /^[a-z][a-z0-9+.-]*:(?!\d)/i.test(text) ? text : `https://${text}`;
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
};
const address = written(4_096).refine(
  (text) => text == null || isWebAddress(text),
  "must be the address of a web page",
);

export const newReportSchema = z.strictObject({
  category: z.enum(REPORT_CATEGORIES),
  description: z.string().trim().min(20).max(4_000),
  snapshotId: z.int().positive().nullish(),
  originalUrl: address,
  /** For people to read: an unusual one costs nobody their report. */
  reporterEmail: written(255),
  pageUrl: address,
  /** Forms hide it: whoever fills it in is no person. */
  website: z.string().max(2_048).nullish(),
});
type NewReport = z.output<typeof newReportSchema>;

export interface Report {
  id: number;
  category: (typeof REPORT_CATEGORIES)[number];
  status: (typeof REPORT_STATUSES)[number];
  createdAt: Date;
  updatedAt: Date;
  snapshotId: number | null;
  originalUrl: string | null;
  pageUrl: string | null;
  reporterEmail: string | null;
  description: string;
  internalNotes: string | null;
}

/**
 * Keeps a report. One that no person has written is dropped, and takes a number all the same: the answers, and the
 * numbers of later ones, do not tell.
 */
export async function takeReport(
  sql: Queryable,
  { website, ...report }: NewReport,
): Promise<{ id: number; kept: boolean; receivedAt: Date }> {
  const kept = (website ?? "") === "";
  const { category, description } = report;
  const rows = kept
    ? await sql<{ id: number; receivedAt: Date }[]>`
        insert into reports (category, description, snapshot_id, original_url, page_url, reporter_email)
        values (${category}, ${description}, ${report.snapshotId ?? null}, ${report.originalUrl ?? null},
          ${report.pageUrl ?? null}, ${report.reporterEmail ?? null})
        returning id, created_at as "receivedAt"`
    : await sql<{ id: number; receivedAt: Date }[]>`
        select nextval(pg_get_serial_sequence('reports', 'id')) as id, now() as "receivedAt"`;
  const { id = 0, receivedAt = new Date() } = rows[0] ?? {};
  return { id, kept, receivedAt };
}

const columns = (sql: Queryable) => sql`
  id, category, status, created_at as "createdAt", updated_at as "updatedAt", snapshot_id as "snapshotId",
  original_url as "originalUrl", page_url as "pageUrl", reporter_email as "reporterEmail", description,
  internal_notes as "internalNotes"`;

export interface ReportFilter {
  status?: Report["status"] | undefined;
  category?: Report["category"] | undefined;
}

/** Newest first. */
export async function listReports(
  sql: Queryable,
  { status, category }: ReportFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ total: number; reports: Report[] }> {
  const where = sql`
    ${status === undefined ? sql`true` : sql`status = ${status}`}
    and ${category === undefined ? sql`true` : sql`category = ${category}`}`;
  const [counted] = await sql<{ total: number }[]>`select count(*) as total from reports where ${where}`;
  const reports = await sql<Report[]>`
    select ${columns(sql)} from reports where ${where} order by id desc limit ${limit} offset ${offset}`;
  return { total: counted?.total ?? 0, reports };
}

export async function readReport(sql: Queryable, id: number): Promise<Report | undefined> {
  const [found] = await sql<Report[]>`select ${columns(sql)} from reports where id = ${id}`;
  return found;
}

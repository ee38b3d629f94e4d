/**
 * Monitored sources: pages and sites that are crawled again and again. The row is the truth, and its schedule at
 * EventBridge follows: `schedule_pending` says that it has not been told of the latest change.
 */
import { z } from "zod";
import type { Queryable } from "../../platform/database/database.ts";
import { ApiError } from "../../platform/errors.ts";
import { uuidv7 } from "../../platform/ids.ts";
import { crawlConfigOverridesSchema } from "../administration/effective-config.ts";
import { LIST_TYPES } from "../discovery/list-task.ts";
import type { Revisit } from "../schedules/revisit.ts";
import { PRIORITIES } from "../settings/job-settings.ts";

export const SOURCE_TYPES = ["page", "site", ...LIST_TYPES] as const;
export type SourceType = (typeof SOURCE_TYPES)[number];

/** Of a site: which of its pages are crawled. */
const siteOptionsSchema = z.object({
  scope: z.enum(["host", "domain", "prefix"]),
  include: z.array(z.string()),
  exclude: z.array(z.string()),
  max_depth: z.int(),
  max_pages: z.int(),
});

/** Of a feed or sitemap: which of its entries are crawled. */
const listOptionsSchema = z.object({
  include: z.array(z.string()),
  exclude: z.array(z.string()),
  /** In one run. */
  max_entries: z.int(),
});

/** What each of its jobs is told, in the words of requests for crawls. */
export const sourceOptionsSchema = z.object({
  /** null unless it is a site. */
  site: siteOptionsSchema.nullable(),
  /** null unless it is a feed or a sitemap. */
  list: listOptionsSchema.nullable().default(null),
  config_id: z.uuid().nullable(),
  config: crawlConfigOverridesSchema,
  collection_id: z.uuid().nullable(),
  tags: z.array(z.string()),
  priority: z.enum(PRIORITIES),
});
export type SourceOptions = z.output<typeof sourceOptionsSchema>;

export interface SourceInput {
  name: string;
  type: SourceType;
  url: string;
  options: SourceOptions;
  /** Five fields, checked by `parseCron`; null: crawled only when somebody asks. */
  schedule_cron: string | null;
  time_zone: string;
  is_active: boolean;
  /** How often it is crawled as far as its schedule lets it; null: at each time of that. */
  revisit: Revisit | null;
}

export interface CrawlSource extends SourceInput {
  id: string;
  version: number;
  last_fired_at: Date | null;
  /** Scheduled time of the firing that began its latest job. */
  last_run_at: Date | null;
  revisit_hours: number | null;
  revisit_job_id: string | null;
  last_crawled_at: Date | null;
  last_error: string | null;
  api_key_id: string | null;
  created_at: Date;
  updated_at: Date;
}

type Row = Omit<CrawlSource, "options"> & { options: unknown };

/** @param id of the source, where it must have one: who makes it again gets the one that is there */
export async function createSource(
  sql: Queryable,
  input: SourceInput,
  apiKeyId: string | null,
  id: string = uuidv7(),
): Promise<CrawlSource> {
  const { name, type, url, options, schedule_cron, time_zone, is_active, revisit } = input;
  const [row] = await sql<Row[]>`
    insert into crawl_sources as known (id, name, type, url, options, schedule_cron, time_zone, is_active, api_key_id,
      revisit, schedule_pending)
    values (${id}, ${name}, ${type}, ${url}, ${JSON.stringify(options)}::text::jsonb, ${schedule_cron},
      ${time_zone}, ${is_active}, ${apiKeyId}, ${jsonOf(sql, revisit)}, ${is_active && schedule_cron !== null})
    on conflict (id) do update set name = known.name
    returning ${sourceColumns(sql)}`;
  return sourceOf(row as Row);
}

/**
 * Its version grows where it fires at other times from now on.
 * @throws ApiError 404 NOT_FOUND
 */
export async function replaceSource(sql: Queryable, id: string, input: SourceInput): Promise<CrawlSource> {
  const { name, type, url, options, schedule_cron, time_zone, is_active, revisit } = input;
  const differs = sql`
    (schedule_cron, time_zone, is_active) is distinct from
      (${schedule_cron}::text, ${time_zone}::text, ${is_active}::boolean)`;
  await forgetList(sql, id, input);
  const [row] = await sql<Row[]>`
    update crawl_sources set name = ${name}, type = ${type}, url = ${url},
      options = ${JSON.stringify(options)}::text::jsonb, schedule_cron = ${schedule_cron}, time_zone = ${time_zone},
      is_active = ${is_active}, version = case when ${differs} then version + 1 else version end,
      revisit = ${jsonOf(sql, revisit)}, schedule_pending = schedule_pending or ${differs},
      schedule_told_at = case when ${differs} then now() else schedule_told_at end, updated_at = now()
    where id = ${id} and deleted_at is null
    returning ${sourceColumns(sql)}`;
  if (row === undefined) throw missing(id);
  return sourceOf(row);
}

/** Of another list, or of other entries of it, nothing is known that was not crawled: all of it is read again. */
async function forgetList(sql: Queryable, id: string, input: SourceInput): Promise<void> {
  const before = await findSource(sql, id);
  if (before === undefined || namesOf(before) === namesOf(input)) return;
  await sql`update crawl_source_lists set gone_at = now() where source_id = ${id} and gone_at is null`;
  await sql`delete from crawl_source_entries where source_id = ${id} and taken is distinct from version`;
}

const namesOf = ({ type, url, options: { list } }: SourceInput): string =>
  JSON.stringify([type, url, list?.include, list?.exclude]);

/** @throws ApiError 404 NOT_FOUND */
export async function readSource(sql: Queryable, id: string): Promise<CrawlSource> {
  const source = await findSource(sql, id);
  if (source === undefined) throw missing(id);
  return source;
}

/** undefined where it is deleted, too. */
export async function findSource(sql: Queryable, id: string): Promise<CrawlSource | undefined> {
  const [row] = await sql<Row[]>`
    select ${sourceColumns(sql)} from crawl_sources where id = ${id} and deleted_at is null`;
  return row && sourceOf(row);
}

/**
 * Newest first.
 * @param after id of the last source seen
 */
export async function listSources(
  sql: Queryable,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<CrawlSource[]> {
  const rows = await sql<Row[]>`
    select ${sourceColumns(sql)} from crawl_sources
    where deleted_at is null and ${after === undefined ? sql`true` : sql`id < ${after}`}
    order by id desc limit ${limit}`;
  return rows.map(sourceOf);
}

/**
 * The row stays, unseen, until its schedule is gone; jobs that run for it go on.
 * @returns it, as its schedule is to be told of it
 * @throws ApiError 404 NOT_FOUND
 */
export async function deleteSource(sql: Queryable, id: string): Promise<CrawlSource> {
  const [row] = await sql<Row[]>`
    update crawl_sources set deleted_at = now(), is_active = false, version = version + 1, schedule_pending = true,
      schedule_told_at = now(), updated_at = now()
    where id = ${id} and deleted_at is null returning ${sourceColumns(sql)}`;
  if (row === undefined) throw missing(id);
  return sourceOf(row);
}

function sourceColumns(sql: Queryable) {
  return sql`id, name, type, url, options, schedule_cron, time_zone, is_active, version, last_fired_at,
    last_run_at, revisit, revisit_hours, revisit_job_id, last_crawled_at, last_error, api_key_id, created_at, updated_at`;
}

const jsonOf = (sql: Queryable, revisit: Revisit | null) =>
  sql`${revisit === null ? null : JSON.stringify(revisit)}::text::jsonb`;

const sourceOf = (row: Row): CrawlSource => ({ ...row, options: sourceOptionsSchema.parse(row.options) });

const missing = (id: string) => new ApiError(404, `There is no source ${id}`, { code: "NOT_FOUND" });

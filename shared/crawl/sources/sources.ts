/**
 * Monitored sources: pages and sites that are crawled again and again. The row is the truth, and its schedule at
 * EventBridge follows: `schedule_pending` says that it has not been told of the latest change.
 */
import { z } from "zod";
import type { Queryable } from "../../platform/database/database.ts";
import { ApiError } from "../../platform/errors.ts";
import { uuidv7 } from "../../platform/ids.ts";
import { crawlConfigOverridesSchema } from "../administration/effective-config.ts";
import { PRIORITIES } from "../settings/job-settings.ts";

export const SOURCE_TYPES = ["page", "site"] as const;
export type SourceType = (typeof SOURCE_TYPES)[number];

/** Of a site: which of its pages are crawled. */
const siteOptionsSchema = z.object({
  scope: z.enum(["host", "domain", "prefix"]),
  include: z.array(z.string()),
  exclude: z.array(z.string()),
  max_depth: z.int(),
  max_pages: z.int(),
});

/** What each of its jobs is told, in the words of requests for crawls. */
export const sourceOptionsSchema = z.object({
  /** null for a source that is one page. */
  site: siteOptionsSchema.nullable(),
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
}

export interface CrawlSource extends SourceInput {
  id: string;
  version: number;
  last_fired_at: Date | null;
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
  const { name, type, url, options, schedule_cron, time_zone, is_active } = input;
  const [row] = await sql<Row[]>`
    insert into crawl_sources as known (id, name, type, url, options, schedule_cron, time_zone, is_active, api_key_id)
    values (${id}, ${name}, ${type}, ${url}, ${JSON.stringify(options)}::text::jsonb, ${schedule_cron},
      ${time_zone}, ${is_active}, ${apiKeyId})
    on conflict (id) do update set name = known.name
    returning ${sourceColumns(sql)}`;
  return sourceOf(row as Row);
}

/** @throws ApiError 404 NOT_FOUND */
export async function replaceSource(sql: Queryable, id: string, input: SourceInput): Promise<CrawlSource> {
  const { name, type, url, options, schedule_cron, time_zone, is_active } = input;
  const [row] = await sql<Row[]>`
    update crawl_sources set name = ${name}, type = ${type}, url = ${url},
      options = ${JSON.stringify(options)}::text::jsonb, schedule_cron = ${schedule_cron}, time_zone = ${time_zone},
      is_active = ${is_active}, version = version + 1, schedule_pending = true, updated_at = now()
    where id = ${id} and deleted_at is null
    returning ${sourceColumns(sql)}`;
  if (row === undefined) throw missing(id);
  return sourceOf(row);
}

/** @throws ApiError 404 NOT_FOUND */
export async function readSource(sql: Queryable, id: string): Promise<CrawlSource> {
  const [row] = await sql<Row[]>`
    select ${sourceColumns(sql)} from crawl_sources where id = ${id} and deleted_at is null`;
  if (row === undefined) throw missing(id);
  return sourceOf(row);
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
 * @returns its version from now on
 * @throws ApiError 404 NOT_FOUND
 */
export async function deleteSource(sql: Queryable, id: string): Promise<number> {
  const [row] = await sql<{ version: number }[]>`
    update crawl_sources set deleted_at = now(), is_active = false, version = version + 1, schedule_pending = true,
      updated_at = now()
    where id = ${id} and deleted_at is null returning version`;
  if (row === undefined) throw missing(id);
  return row.version;
}

function sourceColumns(sql: Queryable) {
  return sql`id, name, type, url, options, schedule_cron, time_zone, is_active, version, last_fired_at,
    last_crawled_at, last_error, api_key_id, created_at, updated_at`;
}

const sourceOf = (row: Row): CrawlSource => ({ ...row, options: sourceOptionsSchema.parse(row.options) });

const missing = (id: string) => new ApiError(404, `There is no source ${id}`, { code: "NOT_FOUND" });

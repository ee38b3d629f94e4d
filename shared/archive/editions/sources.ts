/** The rows of sources, and what the archive has of each. */
import type { UrlInspector } from "../../access/url-inspection.ts";
import { inTransaction, type Queryable, type Sql } from "../../platform/database/database.ts";
import { ApiError } from "../../platform/errors.ts";
import { isShown } from "../exclusions/is-shown.ts";
import { isSnapshot } from "../snapshots/snapshots.ts";
import { buildJobConfig, checkedSeed } from "./job-config.ts";
import { RESERVED_SOURCE, type SourceDefinition, type SourceLanguage } from "./source.ts";

export interface SourceRow extends SourceDefinition {
  reserved: boolean;
  createdAt: Date;
  updatedAt: Date;
}

const columns = (sql: Queryable) => sql`
  code, name, base_url as "baseUrl", description, name_template as "nameTemplate", seeds, entry_pages as "entryPages",
  engine, passthrough_args as "passthroughArgs", tool_options as "toolOptions", schedule_hint as "scheduleHint", enabled,
  reserved, created_at as "createdAt", updated_at as "updatedAt"`;

export async function listSources(sql: Queryable): Promise<SourceRow[]> {
  return await sql<SourceRow[]>`select ${columns(sql)} from sources order by code`;
}

/** @throws ApiError 404 NOT_FOUND */
export async function readSource(sql: Queryable, code: string): Promise<SourceRow> {
  const [found] = await sql<SourceRow[]>`select ${columns(sql)} from sources where code = ${code.toLowerCase()}`;
  if (found !== undefined) return found;
  const message = `There is no source ${code}: GET /api/admin/sources lists them, POST /api/admin/sources makes them`;
  throw new ApiError(404, message, { code: "NOT_FOUND" });
}

export type Seeded = Record<"created" | "updated" | "unchanged", string[]>;

/**
 * Writes sources, all or none.
 * @param keep whether those that are there stay as they are
 * @throws ApiError as `buildJobConfig` throws for a job of such a source
 */
export async function seedSources(
  sql: Sql,
  definitions: readonly SourceDefinition[],
  { inspector, keep }: { inspector: UrlInspector; keep: boolean },
): Promise<Seeded> {
  for (const [index, definition] of definitions.entries()) checkSource(definition, inspector, `sources[${index}]`);
  return await inTransaction(sql, async (tx) => {
    const seeded: Seeded = { created: [], updated: [], unchanged: [] };
    for (const definition of definitions) {
      const { code, name, baseUrl, description, nameTemplate, seeds, engine, scheduleHint, enabled } = definition;
      const json = (value: unknown) => tx`${JSON.stringify(value)}::text::jsonb`;
      const [written] = await tx<{ created: boolean }[]>`
        insert into sources as s (code, name, base_url, description, name_template, seeds, entry_pages, engine,
          passthrough_args, tool_options, schedule_hint, enabled, reserved)
        values (${code}, ${name}, ${baseUrl}, ${description}, ${nameTemplate}, ${seeds}::text[],
          ${json(definition.entryPages)}, ${engine}, ${definition.passthroughArgs}::text[],
          ${json(definition.toolOptions)}, ${scheduleHint}, ${enabled}, ${code === RESERVED_SOURCE})
        on conflict (code) do ${keep ? tx`nothing` : replaced(tx)}
        returning xmax = 0 as created`;
      seeded[written === undefined ? "unchanged" : written.created ? "created" : "updated"].push(code);
    }
    return seeded;
  });
}

/** What a job of it would be refused for. */
function checkSource(definition: SourceDefinition, inspector: UrlInspector, at: string): void {
  buildJobConfig(definition, {}, inspector, at);
  for (const [field, url] of [["baseUrl", definition.baseUrl] as const, ...entriesOf(definition)]) {
    if (url !== null) checkedSeed(inspector, url, `${at}.${field}`);
  }
}

const entriesOf = ({ entryPages }: SourceDefinition): [string, string][] =>
  Object.entries(entryPages).map(([language, url]) => [`entryPages.${language}`, url]);

const replaced = (sql: Queryable) => sql`
  update set (name, base_url, description, name_template, seeds, entry_pages, engine, passthrough_args, tool_options,
      schedule_hint, enabled, updated_at) =
    (excluded.name, excluded.base_url, excluded.description, excluded.name_template, excluded.seeds, excluded.entry_pages,
      excluded.engine, excluded.passthrough_args, excluded.tool_options, excluded.schedule_hint, excluded.enabled, now())
  where to_jsonb(s) - 'created_at' - 'updated_at' <> to_jsonb(excluded) - 'created_at' - 'updated_at'`;

/** What the archive has of a source. */
export interface SourceStatistics {
  code: string;
  name: string;
  baseUrl: string | null;
  description: string | null;
  entryPages: Partial<Record<SourceLanguage, string>>;
  snapshots: number;
  pages: number;
  firstAt: Date;
  lastAt: Date;
  /** The newest good one. */
  latestId: number | null;
}

/** Hosts that belong to no source, at the most. */
const MOST_HOSTS = 500;

/**
 * Sources of which there is something, by their names; then hosts of what belongs to none, those with most first. Reads
 * every snapshot: for whoever keeps the answer for a while.
 */
export async function sourceStatistics(sql: Queryable): Promise<SourceStatistics[]> {
  const counts = (key: ReturnType<Queryable>) => sql`
    select ${key} as code, count(*) as snapshots, count(distinct hashtextextended(page_of(c.final_url), 0)) as pages,
      min(c.fetched_at) as "firstAt", max(c.fetched_at) as "lastAt",
      (array_agg(c.id order by c.fetched_at desc, c.id desc) filter (where c.status_code between 200 and 299))[1] as "latestId"
    from captures c join jobs j on j.id = c.job_id`;
  const registered = await sql<SourceStatistics[]>`
    with counted as (
      ${counts(sql`j.source_code`)} where ${isSnapshot(sql)} and ${isShown(sql)} and j.source_code is not null group by j.source_code)
    select s.code, s.name, s.base_url as "baseUrl", s.description, s.entry_pages as "entryPages", counted.snapshots,
      counted.pages, "firstAt", "lastAt", "latestId"
    from counted join sources s using (code) where not s.reserved order by s.name, s.code`;
  const hosts = await sql<SourceStatistics[]>`
    select code, code as name, null as "baseUrl", null as description, '{}'::jsonb as "entryPages", snapshots, pages,
      "firstAt", "lastAt", "latestId"
    from (${counts(sql`split_part(split_part(c.final_url, '/', 3), '@', -1)`)}
      where ${isSnapshot(sql)} and ${isShown(sql)} and j.source_code is null group by 1) counted
    order by snapshots desc, code limit ${MOST_HOSTS}`;
  return [...registered, ...hosts];
}

export interface Edition {
  jobId: number;
  jobName: string;
  snapshots: number;
  firstAt: Date;
  lastAt: Date;
}

/** Newest first: what each job of a source has captured. */
export async function listEditions(sql: Queryable, code: string): Promise<Edition[]> {
  return await sql<Edition[]>`
    select a.id as "jobId", a.name as "jobName", count(*) as snapshots, min(c.fetched_at) as "firstAt",
      max(c.fetched_at) as "lastAt"
    from archive_jobs a join jobs j on j.archive_job_id = a.id join captures c on c.job_id = j.id
    where a.source_code = ${code} and ${isSnapshot(sql)} and ${isShown(sql)}
    group by a.id order by a.id desc`;
}

/** The newest good capture of a page, of one archive job or of all of the source. */
export async function readEntry(
  sql: Queryable,
  { code, url, jobId }: { code: string; url: string; jobId?: number | undefined },
): Promise<{ id: number; url: string; capturedAt: Date } | undefined> {
  const [found] = await sql<{ id: number; url: string; capturedAt: Date }[]>`
    select c.id, c.final_url as url, c.fetched_at as "capturedAt" from captures c join jobs j on j.id = c.job_id
    where hashtextextended(page_of(c.final_url), 0) = hashtextextended(page_of(${url}::text), 0)
      and page_of(c.final_url) = page_of(${url}::text) and j.source_code = ${code}
      and ${jobId === undefined ? sql`true` : sql`j.archive_job_id = ${jobId}`}
      and ${isSnapshot(sql)} and ${isShown(sql)} and c.status_code between 200 and 299
    order by c.fetched_at desc, c.id desc limit 1`;
  return found;
}

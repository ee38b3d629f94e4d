/** Changes of pages as readers ask for them. */
import type { Queryable } from "../../platform/database/database.ts";
import { areShown } from "../exclusions/is-shown.ts";
import { isSourceCode, jobsOf, type ListPart } from "../snapshots/snapshots.ts";
import type { ChangeKind } from "./compare-captures.ts";
import type { Hunk } from "./compare-lines.ts";

export interface ChangeEvent {
  id: number;
  kind: ChangeKind;
  summary: string;
  highNoise: boolean;
  hasDiff: boolean;
  /** Code of the source that the later capture is of, or its host. */
  source: string;
  sourceName: string;
  page: string;
  fromId: number | null;
  toId: number;
  fromAt: Date | null;
  toAt: Date;
  /** Numbers of jobs. */
  fromJob: number | null;
  toJob: number;
  toUrl: string;
  toTitle: string | null;
  addedSections: number | null;
  removedSections: number | null;
  changedSections: number | null;
  addedLines: number | null;
  removedLines: number | null;
  changeRatio: number | null;
  isCut: boolean;
  version: number;
  computedAt: Date;
}

const columns = (sql: Queryable) => sql`
  e.id, e.kind, e.summary, e.high_noise as "highNoise", e.diff is not null as "hasDiff", e.page,
  coalesce(tj.source_code, e.host) as source,
  coalesce((select name from sources where code = tj.source_code), e.host) as "sourceName",
  e.from_capture_id as "fromId", e.to_capture_id as "toId", f.fetched_at as "fromAt", t.fetched_at as "toAt",
  coalesce(fj.archive_job_id, fj.number) as "fromJob", coalesce(tj.archive_job_id, tj.number) as "toJob", t.final_url as "toUrl", left(t.title, 1000) as "toTitle",
  e.added_sections as "addedSections", e.removed_sections as "removedSections", e.changed_sections as "changedSections",
  e.added_lines as "addedLines", e.removed_lines as "removedLines", e.change_ratio as "changeRatio",
  e.diff_truncated as "isCut", e.version, e.computed_at as "computedAt"`;

const tables = (sql: Queryable) => sql`
  page_changes e join captures t on t.id = e.to_capture_id join jobs tj on tj.id = t.job_id
  left join captures f on f.id = e.from_capture_id left join jobs fj on fj.id = f.job_id`;

export interface ChangeFilter {
  /** The code of a source, or a host. */
  source?: string | undefined;
  /** The number of the job that made the later capture. */
  jobId?: number | undefined;
  /** Whether of each source those of its latest job alone are wanted. */
  latest: boolean;
  includeUnchanged: boolean;
  /** Both inclusive, of the later capture. */
  from?: Date | undefined;
  before?: Date | undefined;
}

/** Newest first. */
export async function listChanges(
  sql: Queryable,
  filter: ChangeFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ total: number; events: ChangeEvent[] }> {
  const [counted] = await sql<
    { total: number }[]
  >`select count(*) as total from page_changes e where ${where(sql, filter)}`;
  const total = counted?.total ?? 0;
  if (offset >= total) return { total, events: [] };
  const events = await sql<ChangeEvent[]>`
    select ${columns(sql)} from ${tables(sql)}
    where ${where(sql, filter)} order by e.to_at desc, e.id desc limit ${limit} offset ${offset}`;
  return { total, events };
}

const where = (sql: Queryable, { source, jobId, latest, includeUnchanged, from, before }: ChangeFilter) => sql`
  ${areShown(sql, sql`e.from_capture_id, e.to_capture_id`)}
  and ${source === undefined ? sql`true` : isOfSource(sql, source)}
  and ${jobId === undefined ? sql`true` : sql`e.to_job_id in ${jobsOf(sql, jobId)}`}
  and ${includeUnchanged ? sql`true` : sql`e.kind <> 'unchanged'`}
  and ${from === undefined ? sql`true` : sql`e.to_at >= ${from}`}
  and ${before === undefined ? sql`true` : sql`e.to_at < ${before}`}
  and ${latest ? isLatest(sql, source) : sql`true`}`;

const isOfSource = (sql: Queryable, source: string) =>
  isSourceCode(source)
    ? sql`(e.host = ${source} or e.to_job_id in (select id from jobs where source_code = ${source}))`
    : sql`e.host = ${source}`;

/**
 * Whether it is of the latest job that captured something of its host: of the jobs of its source, or of those that
 * belong to none. A host that the newest edition has missed is shown by the one before.
 */
const isLatest = (sql: Queryable, source: string | undefined) => {
  const code = source !== undefined && isSourceCode(source) ? source : undefined;
  return sql`(
  ${
    code !== undefined
      ? sql`false`
      : sql`(e.host, e.to_job_id) in (${latestEditions(sql, source)})
    and not exists (select from jobs where id = e.to_job_id and source_code is not null)`
  }
  or (e.host, e.to_job_id) in (${latestOfSources(sql, code)}))`;
};

/** Hosts with the jobs of their latest archive jobs, of each source: by an index that has both. */
const latestOfSources = (sql: Queryable, code: string | undefined) => sql`
  select host, job_id from (
    select hosts.host, j.id as job_id,
      rank() over (partition by j.source_code, hosts.host order by j.archive_job_id desc) as place
    from jobs j cross join lateral (
      with recursive hosts (host) as (
        select min(host) from page_changes where to_job_id = j.id
        union all
        select (select min(host) from page_changes where to_job_id = j.id and host > hosts.host)
        from hosts where hosts.host is not null)
      select host from hosts where host is not null) hosts
    where j.archive_job_id is not null
      and ${code === undefined ? sql`j.source_code is not null` : sql`j.source_code = ${code}`}) editions
  where place = 1`;

/** Of each source, the job that captured something of it last. */
const latestEditions = (sql: Queryable, source: string | undefined) => sql`
  with recursive hosts (host) as (
    select ${source === undefined ? sql`min(host)` : sql`${source}::text`} from page_changes
    union all
    ${source === undefined ? sql`select (select min(host) from page_changes where host > hosts.host)` : sql`select null::text`}
    from hosts where hosts.host is not null)
  select hosts.host, newest.to_job_id from hosts cross join lateral (
    select to_job_id from page_changes where host = hosts.host order by to_at desc, id desc limit 1) newest`;

/** By rising ids, which do not rise with time. */
export async function listChangesById(
  sql: Queryable,
  { after, limit, source, from, before }: ListPart,
): Promise<ChangeEvent[]> {
  return await sql<ChangeEvent[]>`
    select ${columns(sql)} from ${tables(sql)}
    where e.id > ${after} and ${where(sql, { source, from, before, latest: false, includeUnchanged: true })}
    order by e.id limit ${limit}`;
}

/** @param fromId undefined: whatever it was compared with */
export async function readChange(
  sql: Queryable,
  toId: number,
  fromId: number | undefined,
): Promise<(ChangeEvent & { diff: Hunk[] | null }) | undefined> {
  const [found] = await sql<(ChangeEvent & { diff: Hunk[] | null })[]>`
    select ${columns(sql)}, e.diff from ${tables(sql)}
    where e.to_capture_id = ${toId} and ${fromId === undefined ? sql`true` : sql`e.from_capture_id = ${fromId}`}`;
  return found;
}

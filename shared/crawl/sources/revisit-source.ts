/** When a source that is revisited adaptively is due again, by what its latest visit found. */
import type { Queryable } from "../../platform/database/database.ts";
import { nextInterval } from "../schedules/revisit.ts";
import type { CrawlSource } from "./sources.ts";

const HOUR_MS = 3_600_000;
/** Pages are compared a minute or so after they came. */
const COMPARED_AFTER = "5 minutes";

interface Visit {
  id: string;
  /** Pages that it found changed or new. */
  changes: number;
}

/** The time from which on a firing begins a job, in ms; undefined: at once. */
export function dueAt({ revisit, revisit_hours, last_run_at }: CrawlSource): number | undefined {
  if (revisit === null || last_run_at === null) return undefined;
  return last_run_at.getTime() + nextInterval(revisit, revisit_hours, null) * HOUR_MS;
}

/**
 * Judges the latest visit, once.
 * @returns the source with the interval that follows from it
 */
export async function judgeVisit(sql: Queryable, source: CrawlSource): Promise<CrawlSource> {
  const { id, revisit } = source;
  if (revisit === null) return source;
  const visit = await unjudgedVisit(sql, source);
  if (visit === undefined) return source;
  const hours = nextInterval(revisit, source.revisit_hours, visit.changes > 0 ? "change" : "none");
  const judged = { ...source, revisit_hours: hours, revisit_job_id: visit.id };
  const { count } = await sql`
    update crawl_sources set revisit_hours = ${hours}, revisit_job_id = ${visit.id}
    where id = ${id} and revisit_job_id is not distinct from ${source.revisit_job_id}`;
  // the same firing, worked on elsewhere, was faster: it came to the same
  return count === 0 ? { ...source, revisit_hours: hours } : judged;
}

/** undefined where it was judged, has found no page, or is the first: everything is new to that. */
async function unjudgedVisit(
  sql: Queryable,
  { id, revisit_job_id }: Pick<CrawlSource, "id" | "revisit_job_id">,
): Promise<Visit | undefined> {
  const [latest] = await sql<(Visit & { first: boolean })[]>`
    select j.id,
      (select count(*)::int from page_changes p where p.to_job_id = j.id and p.kind in ('new_page', 'updated')) as changes,
      not exists (
        select from jobs earlier
        where earlier.crawl_source_id = ${id} and earlier.id < j.id and earlier.crawled > 0) as first
    from jobs j
    where j.crawl_source_id = ${id} and j.status = 'completed' and (j.crawled > 0 or j.list_report is not null)
      and j.completed_at < now() - ${COMPARED_AFTER}::interval
    order by j.id desc limit 1`;
  if (latest === undefined || latest.first || latest.id === revisit_job_id) return undefined;
  return latest;
}

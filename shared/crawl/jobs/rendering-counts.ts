/** Counts the pages of a job that a browser was to open, and those that none has. */
import type { Queryable } from "../../platform/database/database.ts";
import type { ErrorCount } from "./without-pages.ts";

export interface RenderingCounts {
  /** Pages that were to be opened in a browser, or read as PDFs. */
  wanted: number;
  /** Those of which the archive has what became of them there. */
  rendered: number;
  /** Why the others have nothing, the most frequent first. */
  unrendered: ErrorCount[];
}

/** null until the job has ended, since it would be costly to ask often. */
export async function readRenderingCounts(sql: Queryable, jobId: string): Promise<RenderingCounts | null> {
  const [job] = await sql<{ renders: boolean }[]>`
    select settings->'config'->>'render' in ('auto', 'always') or settings->'config'->>'pdf' = 'read' as renders
    from jobs where id = ${jobId} and status in ('completed', 'failed', 'cancelled')`;
  if (job === undefined) return null;
  if (!job.renders) return { wanted: 0, rendered: 0, unrendered: [] };
  const groups = await sql<{ code: string | null; count: number }[]>`
    select case when jsonb_typeof(c.rendered->'warc') = 'object' then null
      else coalesce(c.rendered->'error'->>'code', 'UNKNOWN') end as code, count(*)::int as count
    from frontier f join captures c on c.id = f.capture_id
    where f.job_id = ${jobId} and jsonb_typeof(c.rendered) = 'object'
    group by 1 order by 2 desc, 1`;
  const unrendered = groups.flatMap(({ code, count }) => (code === null ? [] : [{ code, count }]));
  const rendered = groups.find(({ code }) => code === null)?.count ?? 0;
  return { wanted: groups.reduce((sum, { count }) => sum + count, 0), rendered, unrendered };
}

/** Says of a job that ended without a single page why: what its URLs ended with, counted. */
import type { Queryable } from "../../platform/database/database.ts";

export interface ErrorCount {
  code: string;
  count: number;
}

/** Codes that a message names, at the most. */
const NAMED_CODES = 5;

interface Ended extends ErrorCount {
  state: "failed" | "skipped";
  url: string;
}

/** @returns as in "All 3 pages failed: 2 × HEADERS_TIMEOUT, 1 × HTTP_404" */
export async function whyNoPage(sql: Queryable, jobId: string): Promise<string> {
  const ended = await sql<Ended[]>`
    select coalesce(error_code, 'UNKNOWN') as code, state, count(*)::int as count,
      (array_agg(url order by priority, url_hash))[1] as url
    from frontier where job_id = ${jobId} group by 1, 2 order by (state = 'failed') desc, count(*) desc, 1`;
  const [first] = ended;
  if (first === undefined) return "The job has no page";
  const open = ended.some(({ code }) => code === "CIRCUIT_OPEN") ? await untilClosed(sql, jobId) : "";
  return `${counted(ended, first)}${open}`;
}

/** Which host is left alone, and until when; that of one page, where there are several. */
async function untilClosed(sql: Queryable, jobId: string): Promise<string> {
  const [page] = await sql<{ message: string | null }[]>`
    select c.error_message as message from frontier f join captures c on c.id = f.capture_id
    where f.job_id = ${jobId} and f.error_code = 'CIRCUIT_OPEN' order by c.id desc limit 1`;
  return page?.message ? `. ${page.message}` : "";
}

function counted(ended: readonly Ended[], first: Ended): string {
  const total = sum(ended);
  if (total === 1)
    return `The page ${first.state === "failed" ? "failed" : "was skipped"}: ${first.code} (${first.url})`;
  const failed = ended.filter(({ state }) => state === "failed");
  const skipped = ended.filter(({ state }) => state === "skipped");
  if (skipped.length === 0) return `All ${total} pages failed: ${listed(failed)}`;
  if (failed.length === 0) return `All ${total} pages were skipped: ${listed(skipped)}`;
  return `Of ${total} pages, ${sum(failed)} failed: ${listed(failed)}; ${sum(skipped)} skipped: ${listed(skipped)}`;
}

const sum = (counts: readonly ErrorCount[]): number => counts.reduce((total, { count }) => total + count, 0);

function listed(counts: readonly ErrorCount[]): string {
  const named = counts.slice(0, NAMED_CODES).map(({ code, count }) => `${count} × ${code}`);
  const others = sum(counts.slice(NAMED_CODES));
  return [...named, ...(others > 0 ? [`${others} × other codes`] : [])].join(", ");
}

/** For a query on `jobs`: why URLs of the job failed, an `ErrorCount[]`, the most frequent first. */
export function errorCounts(sql: Queryable) {
  return sql`coalesce((
    select json_agg(json_build_object('code', e.error_code, 'count', e.count) order by e.count desc, e.error_code)
    from (
      select coalesce(f.error_code, 'UNKNOWN') as error_code, count(*)::int as count from frontier f
      where f.job_id = jobs.id and f.state = 'failed' group by 1
    ) e), '[]')`;
}

/** Why URLs of the job failed, the most frequent first; none until it has ended, which would be costly to ask often. */
export async function readErrorCounts(sql: Queryable, jobId: string): Promise<ErrorCount[]> {
  const [job] = await sql<{ errors: ErrorCount[] }[]>`
    select case when status in ('completed', 'failed', 'cancelled') and failed > 0 then ${errorCounts(sql)}
      else '[]' end as errors
    from jobs where id = ${jobId}`;
  return job?.errors ?? [];
}

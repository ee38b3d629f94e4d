/** What is left of the jobs that have not ended. */
import type { Queryable } from "../../platform/database/database.ts";

export interface OpenWork {
  jobs: { pending: number; running: number; embedding: number };
  urls: number;
  unembedded_chunks: number;
}

export async function readOpenWork(sql: Queryable): Promise<OpenWork> {
  const rows = await sql<{ status: keyof OpenWork["jobs"]; jobs: number; urls: number; chunks: number }[]>`
    select status, count(*)::int as jobs, sum(open_urls)::int as urls, sum(unembedded_chunks)::int as chunks
    from jobs where status in ('pending', 'running', 'embedding') group by status`;
  const work: OpenWork = { jobs: { pending: 0, running: 0, embedding: 0 }, urls: 0, unembedded_chunks: 0 };
  for (const { status, jobs, urls, chunks } of rows) {
    work.jobs[status] = jobs;
    work.urls += urls;
    work.unembedded_chunks += chunks;
  }
  return work;
}

/**
 * Jobs that end once nobody listens. Whoever listens says so every few seconds: a listener that dies cannot say that it
 * leaves. The sweep ends jobs that nobody has listened to for a minute.
 */
import type { Sql } from "../platform/database.ts";

/** How often a listener says that it is there, in ms. */
export const WATCH_INTERVAL_MS = 10_000;
/** Listeners may miss a few times, and a client whose connection broke has time to come back. */
const UNWATCHED_AFTER = "60 seconds";
const MOST_JOBS = 500;

/** Somebody listens to the job. */
export async function keepWatched(sql: Sql, jobId: string): Promise<void> {
  await sql`update jobs set watched_at = now() where id = ${jobId} and watched_at is not null`;
}

/** Jobs that nobody listens to any more, and that still have something to crawl. */
export async function unwatchedJobs(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from jobs
    where status in ('pending', 'running') and open_urls > 0 and not cancel_requested
      and watched_at < now() - ${UNWATCHED_AFTER}::interval
    order by watched_at limit ${MOST_JOBS}`;
  return rows.map(({ id }) => id);
}

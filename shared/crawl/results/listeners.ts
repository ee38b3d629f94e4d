/**
 * Jobs that end once nobody listens. Whoever listens says so every few seconds: a listener that dies cannot say that it
 * leaves. The sweep ends jobs that nobody has listened to for a minute.
 */
import type { Queryable, Sql } from "../../platform/database/database.ts";

/** How often a listener says that it is there, in ms. */
export const LISTENER_INTERVAL_MS = 10_000;
/** Listeners may miss a few times, and a client whose connection broke has time to come back. */
const UNHEARD_AFTER = "60 seconds";
const MOST_JOBS = 500;

/** Somebody listens to the job. */
export async function keepListened(sql: Sql, jobId: string): Promise<void> {
  await sql`update jobs set watched_at = now() where id = ${jobId} and watched_at is not null`;
}

/** Whether nobody listens to the job any more, and it still has something to crawl. */
export async function hasNoListener(sql: Queryable, jobId: string): Promise<boolean> {
  const [row] = await sql`select from jobs where id = ${jobId} and ${unwatched(sql)}`;
  return row !== undefined;
}

/** Such jobs. */
export async function jobsWithoutListener(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from jobs where ${unwatched(sql)} order by watched_at limit ${MOST_JOBS}`;
  return rows.map(({ id }) => id);
}

const unwatched = (sql: Queryable) => sql`
  status in ('pending', 'running') and open_urls > 0 and not cancel_requested
  and watched_at < statement_timestamp() - ${UNHEARD_AFTER}::interval`;

/** What must hold once everything has settled, whatever happened before. */

import { setTimeout as delay } from "node:timers/promises";
import postgres from "postgres";
import type { Instance } from "../../test/services/instance.ts";
import { type Made, RECORDS_PER_FILE } from "./load.ts";
import type { TestedSystem } from "./tested-system.ts";

const POLL_MS = 500;
/** Snapshots that are read as anybody would. */
const SAMPLE = 400;

/**
 * Waits until nothing is under way.
 * @returns seconds that it took
 * @throws Error that says what is left
 */
export async function settle({ instance }: TestedSystem, made: Made, longestMs: number): Promise<number> {
  const since = performance.now();
  return await withDatabase(instance, async (sql) => {
    for (;;) {
      const left = await sql<{ what: string; count: number }[]>`
        select * from (
          select 'jobs' as what, count(*)::int from jobs where status in ('pending', 'running', 'embedding')
          union all select 'urls', count(*)::int from frontier where state in ('pending', 'claimed')
          union all select 'imports', count(*)::int from warc_imports
            where id = any(${made.imports}::uuid[]) and status not in ('completed', 'failed')
          union all select 'vectors', count(*)::int from documents_active d join chunks c on c.document_id = d.id
            join embeddings e on e.chunk_id = c.id where e.state = 'pending'
          union all select 'snapshots', count(*)::int from snapshots_due
          union all select 'changes', count(*)::int from changes_due
          union all select 'deliveries', count(*)::int from webhook_deliveries where status = 'pending') each
        where count > 0`;
      if (left.length === 0) return (performance.now() - since) / 1000;
      if (performance.now() - since > longestMs) {
        throw new Error(
          `not settled after ${longestMs / 1000} s: ${left.map(({ what, count }) => `${count} ${what}`).join(", ")}`,
        );
      }
      // attempts that are minutes or hours away are waited for no longer, but one that is under way is left its lease
      await sql`
        update webhook_deliveries set next_attempt_at = now() where status = 'pending' and next_attempt_at > now()
          and (attempts = jsonb_array_length(tries) or next_attempt_at < now() + interval '13 minutes')`;
      await delay(POLL_MS);
    }
  });
}

export interface Findings {
  /** What does not hold, in words. */
  faults: string[];
  figures: Record<string, number>;
}

export async function checkInvariants(system: TestedSystem, made: Made): Promise<Findings> {
  const { instance, receiver } = system;
  const faults: string[] = [];
  const figures: Record<string, number> = {};
  const none = (what: string, rows: readonly unknown[]) => {
    if (rows.length > 0) faults.push(`${what}: ${rows.length}, such as ${JSON.stringify(rows.slice(0, 3))}`);
  };
  await withDatabase(instance, async (sql) => {
    const [totals] = await sql<Record<string, number>[]>`
      select (select count(*)::int from jobs) as jobs, (select count(*)::int from frontier) as urls,
        (select count(*)::int from captures) as captures, (select count(*)::int from documents_active) as documents,
        (select count(*)::int from webhook_deliveries) as deliveries,
        (select count(*)::int from page_changes) as changes,
        (select count(*)::int from jobs where kind = 'import') as imports,
        (select count(*)::int from jobs where crawl_source_id is not null) as source_runs,
        (select count(*)::int from jobs where status = 'cancelled') as cancelled_jobs,
        (select coalesce(extract(epoch from max(completed_at - created_at)), 0)::float8 from jobs) as longest_job_s,
        (select coalesce(extract(epoch from percentile_cont(0.5) within group (order by completed_at - created_at)),
          0)::float8 from jobs) as median_job_s`;
    Object.assign(figures, totals);

    const jobs = await sql<{ id: string }[]>`select id from jobs`;
    const known = new Set(jobs.map(({ id }) => id));
    none(
      "jobs that were answered for and are missing",
      [...made.jobs].filter((id) => !known.has(id)),
    );
    const unknown = await sql<{ id: string }[]>`
      select id, kind from jobs
      where kind <> 'import' and crawl_source_id is null and not id = any(${[...made.jobs]}::uuid[])`;
    none("jobs that nobody was told of", unknown);

    none(
      "URLs that are in no final state, or hold a lease after their end",
      await sql`select job_id, url, state from frontier
        where state in ('pending', 'claimed') or task_id is not null or lease_until is not null`,
    );
    none(
      "jobs whose counters differ from the states of their URLs",
      await sql`
        select j.id, j.kind, j.status, j.discovered, j.crawled, j.failed, j.skipped, j.open_urls, f.* from jobs j
        left join lateral (
          select count(*)::int as urls, count(*) filter (where state = 'crawled')::int as urls_crawled,
            count(*) filter (where state = 'failed')::int as urls_failed,
            count(*) filter (where state = 'skipped')::int as urls_skipped
          from frontier where job_id = j.id) f on true
        where j.kind in ('pages', 'site') and (j.discovered, j.crawled, j.failed, j.skipped, j.open_urls)
          is distinct from (f.urls, f.urls_crawled, f.urls_failed, f.urls_skipped, 0)`,
    );
    none(
      "jobs whose results have gaps",
      await sql`select j.id, j.results from jobs j where j.kind in ('pages', 'site') and j.results <>
        (select count(*) from frontier f where f.job_id = j.id and f.result_seq between 1 and j.results)`,
    );
    none(
      // a try that failed and may be made again is followed by another
      "URLs that one job captured twice",
      await sql`select job_id, url from captures where error_retryable is not true group by 1, 2 having count(*) > 1`,
    );
    none(
      "URLs that were crawled without a capture",
      await sql`select f.job_id, f.url from frontier f
        where f.state = 'crawled' and not exists (select from captures c where c.id = f.capture_id)`,
    );
    none(
      "jobs whose count of missing vectors is not the number of them",
      await sql`select j.id, j.unembedded_chunks, n.waiting from jobs j left join lateral (
          select count(*)::int as waiting from documents d join chunks c on c.document_id = d.id
            join embeddings e on e.chunk_id = c.id
          where d.generation_id = j.generation_id and e.state = 'pending') n on true
        where j.status = 'completed' and j.unembedded_chunks <> n.waiting`,
    );
    const [domains] = await sql<Record<string, number>[]>`
      select (select coalesce(sum(crawled), 0)::int from domain_counts) as counted_crawled,
        (select coalesce(sum(failed), 0)::int from domain_counts) as counted_failed,
        (select coalesce(sum(crawled), 0)::int from jobs where kind in ('pages', 'site')) as crawled,
        (select coalesce(sum(failed), 0)::int from jobs where kind in ('pages', 'site')) as failed`;
    if (domains?.["counted_crawled"] !== domains?.["crawled"] || domains?.["counted_failed"] !== domains?.["failed"]) {
      faults.push(`the counts of domains and of jobs differ: ${JSON.stringify(domains)}`);
    }
    Object.assign(figures, { pages_crawled: domains?.["crawled"] ?? 0, pages_failed: domains?.["failed"] ?? 0 });

    none("dead letters that ended", await sql`select queue, state, body from dead_letters where state <> 'recovered'`);
    const [letters] = await sql<{ letters: number }[]>`select count(*)::int as letters from dead_letters`;
    figures["dead_letters_recovered"] = letters?.letters ?? 0;

    const deliveries = await sql<{ id: string; event: string; job_id: string; status: string }[]>`
      select id, event, job_id, status from webhook_deliveries where webhook_id = ${made.webhook}`;
    none(
      "deliveries that were given up",
      deliveries.filter(({ status }) => status !== "delivered"),
    );
    none(
      "deliveries that the receiver never had",
      deliveries.filter(({ id }) => !receiver.taken.has(id)),
    );
    const told = new Set(deliveries.filter(({ event }) => event.startsWith("crawl.")).map(({ job_id }) => job_id));
    const ended = await sql<
      { id: string; kind: string }[]
    >`select id, kind, status from jobs where kind in ('pages', 'site')`;
    none(
      "ends of jobs that nobody was told of",
      ended.filter(({ id }) => !told.has(id)),
    );

    const documents = await sql<
      { url: string }[]
    >`select url from documents_active where url like 'https://uploads.example/%'`;
    const there = new Set(documents.map(({ url }) => url));
    const uploads = [...made.uploads];
    none(
      "uploads that are missing",
      uploads.filter(([url, { deleted }]) => !deleted && !there.has(url)),
    );
    none(
      "documents that were deleted and are there",
      uploads.filter(([url, { deleted }]) => deleted && there.has(url)),
    );
    Object.assign(figures, {
      uploads: uploads.length,
      uploads_deleted: uploads.filter(([, { deleted }]) => deleted).length,
    });

    none(
      "imports that did not end well, or lack records",
      await sql`select id, status, captures from warc_imports
        where id = any(${made.imports}::uuid[]) and (status <> 'completed' or captures <> ${RECORDS_PER_FILE})`,
    );
    none("complaints about WARC records", await sql`select * from warc_complaints`);
    figures["snapshots_read"] = await readSnapshots(instance, sql, faults);
  });
  await compareStores(instance, faults, figures);
  await verifyFiles(instance, faults, figures);
  return { faults, figures };
}

/** As any reader would, by the index: each says the number of its page. */
async function readSnapshots(instance: Instance, sql: postgres.Sql, faults: string[]): Promise<number> {
  const captures = await sql<{ id: number; url: string }[]>`
    select id::int, final_url as url from captures
    where error_code is null and reused_from is null and (mime_type like '%html%' or revisit_of is not null) order by random() limit ${SAMPLE}`;
  const wrong: string[] = [];
  for (const { id, url } of captures) {
    const answer = await fetch(`${instance.url}/api/snapshots/raw/${id}`);
    const body = await answer.text();
    const page = /\/p\/(\d+)$/.exec(url)?.[1] ?? "0";
    const expected = url.includes("imported-") ? `Number ${url.split("/").at(-1)} of ` : `<h1>Page ${page}</h1>`;
    if (answer.status !== 200 || !body.includes(expected)) wrong.push(`${url}: ${answer.status} ${body.slice(0, 200)}`);
  }
  if (wrong.length > 0) faults.push(`snapshots that are not what was captured: ${wrong.length}, such as ${wrong[0]}`);
  return captures.length;
}

/** Points of documents that are deleted may be left over and go now; no vector may be lost, and then both are equal. */
async function compareStores(instance: Instance, faults: string[], figures: Record<string, number>): Promise<void> {
  const compare = async () => {
    const found = { orphaned: 0, lost: 0 };
    for (let cursor: string | null = null; ; ) {
      const part: { orphaned_points: number; lost_chunks: number; next_cursor: string | null } = await instance.call(
        ...(["POST", "/api/v1/documents/reconcile", { cursor }] as const),
      );
      found.orphaned += part.orphaned_points;
      found.lost += part.lost_chunks;
      cursor = part.next_cursor;
      if (cursor === null) return found;
    }
  };
  const first = await compare();
  const second = await compare();
  Object.assign(figures, { orphaned_points: first.orphaned, lost_vectors: first.lost });
  if (first.lost > 0 || second.lost > 0) faults.push(`vectors that are lost: ${first.lost}`);
  if (second.orphaned > 0) faults.push(`points without a chunk that stay: ${second.orphaned}`);
}

async function verifyFiles(instance: Instance, faults: string[], figures: Record<string, number>): Promise<void> {
  const { id } = await instance.call<{ id: string }>("POST", "/api/admin/warc-runs", { kind: "verify" });
  for (;;) {
    const run = await instance.call<Record<string, unknown>>("GET", `/api/admin/warc-runs/${id}`);
    if (run["status"] === "completed") {
      const counts = run["counts"] as Record<string, number>;
      Object.assign(figures, { warc_files_verified: counts["files"], warc_records_verified: counts["records"] });
      const found = run["faults"] as unknown[];
      if (found.length > 0) faults.push(`faults of WARC files: ${JSON.stringify(found.slice(0, 3))}`);
      return;
    }
    if (run["status"] === "failed") {
      faults.push(`the verification of WARC files failed: ${JSON.stringify(run)}`);
      return;
    }
    await delay(POLL_MS);
  }
}

async function withDatabase<T>({ postgresUrl }: Instance, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(postgresUrl, { max: 1, onnotice: () => {} });
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}

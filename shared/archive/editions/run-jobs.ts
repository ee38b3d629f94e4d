/**
 * Moves archive jobs on, each minute: begins those that wait, and lets them follow the crawls and imports that work for
 * them. Each step is a transaction that looks at the rows anew, so whoever is stopped or comes twice does no harm.
 */
import type { JobDependencies } from "../../crawl/jobs/dependencies.ts";
import type { JobStatus } from "../../crawl/jobs/lifecycle.ts";
import { createJob } from "../../crawl/submit/create-job.ts";
import { inTransaction, type Queryable, type Sql, type Transaction } from "../../platform/database/database.ts";
import { ApiError } from "../../platform/errors.ts";
import { isOfHtml } from "../snapshots/snapshots.ts";
import { type ArchiveJob, moveJob, readArchiveJob } from "./archive-jobs.ts";
import { beginRuns, followRuns } from "./engine-runs.ts";
import { importWarcs, type WarcsDependencies } from "./import-warcs.ts";
import { nativeCrawl, nativeSettings } from "./native-crawl.ts";
import { type PreviewDependencies, planPreviews, takePreviews } from "./previews.ts";

export interface JobsRun {
  begun: number;
  moved: number;
  /** They are looked at again a minute later: why is in the log. */
  failed: number;
}

/** Of one run, at the most. */
const MOST_JOBS = 200;
/** Minutes before a failed crawl is made again, doubled at each try. */
const BACK_OFF_MINUTES = 5;

/** Where engines beside our own crawler are deployed: what their runs need. */
export type Engines = Pick<WarcsDependencies, "uploads" | "objects">;

export interface ArchiveJobsDependencies extends JobDependencies {
  engines?: Engines | undefined;
  /** Where pictures of entry pages are taken: what they need. */
  previews?: Pick<PreviewDependencies, "objects" | "answers" | "replayUrl"> | undefined;
}

export async function runArchiveJobs(
  dependencies: ArchiveJobsDependencies,
  hasTime: () => boolean,
  now = new Date(),
): Promise<JobsRun> {
  const run: JobsRun = { begun: 0, moved: 0, failed: 0 };
  for (const id of await openJobs(dependencies.sql, now)) {
    if (!hasTime()) break;
    try {
      const job = await readArchiveJob(dependencies.sql, id);
      if (job.status === "queued" || job.status === "retryable") {
        if (await beginCrawl(dependencies, job)) run.begun++;
      } else if (await follow(dependencies, id, now)) run.moved++;
    } catch (error) {
      run.failed++;
      dependencies.log.error("an archive job could not go on: it is looked at again in a minute", {
        error,
        archive_job_id: id,
      });
    }
  }
  const { previews } = dependencies;
  if (previews !== undefined && hasTime()) {
    await takePreviews({ ...dependencies, ...previews }, hasTime, now).catch((error: unknown) => {
      run.failed++;
      dependencies.log.error("previews of entry pages could not go on: they are looked at again in a minute", {
        error,
      });
    });
  }
  return run;
}

async function openJobs(sql: Sql, now: Date): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select id from archive_jobs
    where status in ('queued', 'running', 'retryable', 'completed', 'indexing') and not_before <= ${now}
    order by updated_at, id limit ${MOST_JOBS}`;
  return rows.map(({ id }) => id);
}

/** @returns whether it has begun now, and by this call */
async function beginCrawl(dependencies: ArchiveJobsDependencies, job: ArchiveJob): Promise<boolean> {
  const { id, config, sourceCode, engine } = job;
  if (engine === "zimit" && dependencies.engines !== undefined) return await beginEngine(dependencies, job);
  const { crawl, faults } = nativeCrawl(config);
  if (engine !== "native" || crawl === undefined) {
    const why = engine === "native" ? faults.join("; ") : NO_ENGINE;
    await refuse(dependencies.sql, id, why);
    return false;
  }
  const [source] = await dependencies.sql<
    { reserved: boolean }[]
  >`select reserved from sources where code = ${sourceCode}`;
  const hidden = source?.reserved === true;
  try {
    await createJob(
      dependencies,
      {
        ...crawl,
        priority: "low",
        config: nativeSettings(),
        handling: { cache: "bypass", concurrency: config.tool_options.initial_workers, index: !hidden },
        collectionId: null,
        tags: [],
        apiKeyId: null,
        edition: { archiveJobId: id, sourceCode, hidden },
      },
      async (tx) => {
        const started = { started_at: new Date(), finished_at: null, crawler_exit_code: null, error: null };
        const moved = await moveJob(tx, id, "crawl_started", {
          ...started,
          crawler_status: null,
          crawler_stage: "crawl",
        });
        if (moved === undefined) throw new AlreadyBegun();
      },
    );
  } catch (error) {
    if (error instanceof AlreadyBegun) return false;
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    await refuse(dependencies.sql, id, error.message);
    return false;
  }
  dependencies.log.info("an archive job has begun", { archive_job_id: id });
  return true;
}

const NO_ENGINE = "no engine zimit is deployed: set zimitImage for a deployment, or ZIMIT__COMMAND on one machine";

async function beginEngine({ sql, log }: JobDependencies, { id }: ArchiveJob): Promise<boolean> {
  const mode = await inTransaction(sql, async (tx) => {
    const started = { started_at: new Date(), finished_at: null, crawler_exit_code: null, error: null };
    const moved = await moveJob(tx, id, "crawl_started", { ...started, crawler_status: null, crawler_stage: "crawl" });
    return moved === undefined ? undefined : await beginRuns(tx, await readArchiveJob(tx, id), new Date());
  });
  if (mode !== undefined) log.info("an archive job has begun", { archive_job_id: id, mode });
  return mode !== undefined;
}

/** Another run of this has begun it in the meantime. */
class AlreadyBegun extends Error {}

/** What cannot begin as it is fails at once: another try would be refused as well. */
async function refuse(sql: Sql, id: number, error: string): Promise<void> {
  await sql`
    update archive_jobs set status = 'failed', crawler_status = 'failed', error = ${error}, finished_at = now(),
      updated_at = now()
    where id = ${id} and status in ('queued', 'retryable')`;
}

/** What works for it: the newest crawl, or all of its imports. */
interface Work {
  status: JobStatus;
  error: string | null;
  discovered: number;
  open: number;
  crawled: number;
  failed: number;
  skipped: number;
}

async function readWork(tx: Queryable, { id, engine }: ArchiveJob): Promise<Work[]> {
  return await tx<Work[]>`
    select status, error, discovered, open_urls as open, crawled, failed, skipped from jobs
    where archive_job_id = ${id} and kind ${engine === "native" ? tx`<> 'import'` : tx`= 'import'`}
    order by number desc ${engine === "native" ? tx`limit 1` : tx``}`;
}

/** @returns whether it has moved on */
async function follow(dependencies: ArchiveJobsDependencies, id: number, now: Date): Promise<boolean> {
  const { sql, log } = dependencies;
  const job = await readArchiveJob(sql, id);
  if (job.engine === "zimit" && job.status === "running") {
    if (dependencies.engines === undefined) throw new Error(NO_ENGINE);
    const engine = { ...dependencies, ...dependencies.engines };
    if ((await followRuns(engine, job, now)) !== "complete") return false;
    await importWarcs(engine, job);
  }
  return await inTransaction(sql, async (tx) => {
    await tx`select from archive_jobs where id = ${id} for update`;
    const job = await readArchiveJob(tx, id);
    const work = await readWork(tx, job);
    const before = job.status;
    if (job.status === "running") await followCrawl(tx, job, work);
    if ((await readArchiveJob(tx, id)).status === "completed") await beginIndex(tx, await readArchiveJob(tx, id));
    if ((await readArchiveJob(tx, id)).status === "indexing") await followIndex(tx, job, work);
    const after = await readArchiveJob(tx, id);
    await tx`update archive_jobs set updated_at = now() where id = ${id}`;
    if (after.status === before) return false;
    log.info("an archive job has moved on", { archive_job_id: id, from: before, to: after.status });
    return true;
  });
}

const isUnderWay = ({ status }: Work): boolean => status === "pending" || status === "running";
const hasFailed = ({ status }: Work): boolean => status === "failed" || status === "cancelled";

async function followCrawl(tx: Transaction, job: ArchiveJob, work: readonly Work[]): Promise<void> {
  const { id, retryCount } = job;
  // what was crawled, and how it ended, its runs have told
  const told = job.engine === "zimit";
  const sum = (field: "discovered" | "open" | "crawled" | "failed" | "skipped") =>
    work.reduce((total, each) => total + each[field], 0);
  const [crawled, failed, open] = [sum("crawled"), sum("failed"), sum("open")];
  const counts = { pages_crawled: crawled, pages_failed: failed, pages_total: crawled + failed + open };
  const stats = { crawled, total: counts.pages_total, pending: open, failed, skipped: sum("skipped") };
  if (!told)
    await tx`
    update archive_jobs set ${tx(counts as never)}, last_stats = ${JSON.stringify(stats)}::text::jsonb where id = ${id}`;
  if (work.some(isUnderWay)) return;
  const bad = work.find(hasFailed);
  // what the others have captured counts
  if (work.length > 0 && !work.every(hasFailed)) {
    const error = bad === undefined ? null : (bad.error ?? bad.status);
    const ended = { crawler_stage: null, finished_at: new Date() };
    const more = told
      ? { ...ended, ...(error === null ? {} : { error }) }
      : { ...ended, crawler_exit_code: 0, crawler_status: "success", error };
    await moveJob(tx, id, "crawl_succeeded", more);
    return;
  }
  const error = bad === undefined ? "nothing works for it" : (bad.error ?? `its crawl was ${bad.status}`);
  const more = { crawler_exit_code: 1, crawler_status: "failed", crawler_stage: null, finished_at: new Date(), error };
  // who has cancelled a crawl does not want it made again
  if (bad?.status === "cancelled") {
    await tx`
      update archive_jobs set ${tx({ ...more, status: "failed", crawler_status: "cancelled" } as never)}, updated_at = now()
      where id = ${id}`;
    return;
  }
  const not_before = new Date(Date.now() + BACK_OFF_MINUTES * 2 ** retryCount * 60_000);
  await moveJob(tx, id, "crawl_failed", { ...more, not_before });
}

/** The snapshots of a job are indexed by what indexes all of them: this sees to it that they are due. */
async function beginIndex(tx: Transaction, { id, engine, error }: ArchiveJob): Promise<void> {
  const found = await measureStorage(tx, id);
  if (found.warc_file_count === 0) {
    await moveJob(tx, id, "index_failed", { error: "There is no WARC file of this job", indexed_page_count: 0 });
    return;
  }
  await tx`
    insert into snapshots_due (capture_id)
    select c.id from captures c join jobs j on j.id = c.job_id
    where j.archive_job_id = ${id} and not j.hidden
      and ${isOfHtml(tx)}
      and not exists (select from snapshot_index s where s.capture_id = c.id)
    on conflict do nothing`;
  // that a limit was met stays to be seen
  await moveJob(tx, id, "index_started", { indexed_page_count: 0, error: engine === "zimit" ? error : null });
}

async function followIndex(tx: Transaction, job: ArchiveJob, work: readonly Work[]): Promise<void> {
  const { id } = job;
  if (work.some((each) => isUnderWay(each) || each.status === "embedding")) return;
  const [left] = await tx<{ due: boolean; pages: number }[]>`
    select exists (
        select from snapshots_due d join captures c on c.id = d.capture_id join jobs j on j.id = c.job_id
        where j.archive_job_id = ${id}) as due,
      (select count(*) from captures c join jobs j on j.id = c.job_id
        where j.archive_job_id = ${id} and ${isOfHtml(tx)}) as pages`;
  if (left === undefined || left.due) return;
  await measureStorage(tx, id);
  await moveJob(tx, id, "index_succeeded", { indexed_page_count: left.pages });
  await planPreviews(tx, job);
}

/** What its captures point at, counted into its row. */
export async function measureStorage(
  tx: Queryable,
  id: number,
): Promise<{ warc_file_count: number; warc_bytes_total: number }> {
  const [found] = await tx<{ warc_file_count: number; warc_bytes_total: number }[]>`
    select count(distinct c.warc_key) as warc_file_count, coalesce(sum(c.warc_length), 0)::bigint as warc_bytes_total
    from captures c join jobs j on j.id = c.job_id
    where j.archive_job_id = ${id} and c.warc_key is not null and c.reused_from is null`;
  const counts = found ?? { warc_file_count: 0, warc_bytes_total: 0 };
  await tx`
    update archive_jobs set ${tx(counts as never)}, output_bytes_total = ${counts.warc_bytes_total},
      storage_scanned_at = now()
    where id = ${id}`;
  return counts;
}

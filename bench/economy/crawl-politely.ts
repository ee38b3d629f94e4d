/** Crawls hosts at once, one job for each, at the pace that a deployment has by itself, and counts what it took. */

import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import postgres from "postgres";
import type { Usage } from "../../local/usage/usage.ts";
import type { Instance } from "../../test/services/instance.ts";
import { cpuMs, readJsonLine, startNode, treeCpuMs } from "../../test/services/processes.ts";

export interface Setting {
  hosts: number;
  pagesPerHost: number;
  /** Seconds, as their robots.txt ask for it. */
  crawlDelay?: number;
}

/** What was used between two moments. */
export interface Consumption {
  pages: number;
  /** Until the work was done. */
  seconds: number;
  /** For which was counted: until all that the work had begun was at its end. */
  countedSeconds: number;
  usage: Usage;
  postgresCpuMs: number;
  /** What the log of the database grew by, without whole pages, of which Aurora writes none. */
  logBytes: number;
  /** What the database grew by. */
  databaseBytes: number;
}

const TIMEOUT_MS = 900_000;
const POLL_MS = 1_000;
/** A function is counted when it ends: those that did the last of the work have by then. */
const ENDING_MS = 20_000;
/** What follows at leisure, such as a vacuum or an index, is of the work too: until the log grows by less in a look. */
const QUIET_BYTES = 256 * 1024;
const LOOK_MS = 10_000;
const LONGEST_AFTERWARDS_MS = 240_000;

export async function crawlPolitely(instance: Instance, setting: Setting): Promise<Consumption> {
  const sites = startNode(join(import.meta.dirname, "sites.ts"), [], {
    HOSTS: String(setting.hosts),
    PAGES: String(setting.pagesPerHost),
    ...(setting.crawlDelay === undefined ? {} : { CRAWL_DELAY: String(setting.crawlDelay) }),
  });
  try {
    const { ports } = await readJsonLine<{ ports: number[] }>(sites);
    return await measured(instance, async (sql) => {
      const jobs = await submitAll(instance, ports, setting.pagesPerHost);
      return await pagesOf(sql, jobs);
    });
  } finally {
    await sites.stop();
  }
}

async function submitAll(instance: Instance, ports: readonly number[], pages: number): Promise<string[]> {
  const jobs: string[] = [];
  // one after the other: more at once might be asked to wait
  for (const port of ports) {
    const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl/deep", {
      url: `http://127.0.0.1:${port}/page/0`,
      max_depth: 100,
      max_pages: pages,
    });
    jobs.push(job_id);
  }
  return jobs;
}

/**
 * Waits for the end of the jobs, in the database: asking the API would be counted.
 * @returns how many pages they crawled
 */
async function pagesOf(sql: postgres.Sql, jobs: readonly string[]): Promise<number> {
  const deadline = Date.now() + TIMEOUT_MS;
  for (;;) {
    const [row] = await sql<{ open: number; pages: number }[]>`
      select count(*) filter (where completed_at is null)::int as open, coalesce(sum(crawled), 0)::int as pages
      from jobs where id = any(${[...jobs]}::uuid[])`;
    if (row?.open === 0) return row.pages;
    if (Date.now() > deadline) throw new Error(`${row?.open} of ${jobs.length} jobs have not ended`);
    await delay(POLL_MS);
  }
}

/** @param work tells how many pages it crawled; 0 where it is nothing but time */
export async function measured(instance: Instance, work: (sql: postgres.Sql) => Promise<number>): Promise<Consumption> {
  const sql = postgres(instance.postgresUrl, { max: 1, onnotice: () => undefined });
  try {
    await sql`alter system set full_page_writes = off`;
    await sql`select pg_reload_conf()`;
    const read = async () => {
      const { pid } = instance.child;
      const [row] = await sql<{ log: string; size: string }[]>`
        select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as log, pg_database_size(current_database()) as size`;
      return {
        usage: await instance.call<Usage>("GET", "/_local/usage"),
        postgresCpuMs: (await treeCpuMs(pid)) - (await cpuMs(pid)),
        logBytes: Number(row?.log),
        databaseBytes: Number(row?.size),
        at: performance.now(),
      };
    };
    const before = await read();
    const pages = await work(sql);
    const doneAt = performance.now();
    await delay(ENDING_MS);
    await untilQuiet(sql);
    const after = await read();
    return {
      pages,
      seconds: (doneAt - before.at) / 1000,
      countedSeconds: (after.at - before.at) / 1000,
      usage: difference(after.usage, before.usage),
      postgresCpuMs: after.postgresCpuMs - before.postgresCpuMs,
      logBytes: after.logBytes - before.logBytes,
      databaseBytes: after.databaseBytes - before.databaseBytes,
    };
  } finally {
    await sql.end();
  }
}

async function untilQuiet(sql: postgres.Sql): Promise<void> {
  const log = async () => {
    const [row] = await sql<{ bytes: string }[]>`select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as bytes`;
    return Number(row?.bytes);
  };
  const until = performance.now() + LONGEST_AFTERWARDS_MS;
  for (let before = await log(), grown = Number.POSITIVE_INFINITY; grown > QUIET_BYTES; ) {
    if (performance.now() > until) return;
    await delay(LOOK_MS);
    const now = await log();
    grown = now - before;
    before = now;
  }
}

function difference(after: Usage, before: Usage): Usage {
  const less = (a: Record<string, number>, b: Record<string, number>) =>
    Object.fromEntries(Object.entries(a).map(([name, count]) => [name, count - (b[name] ?? 0)]));
  return {
    calls: less(after.calls, before.calls),
    bytes: less(after.bytes, before.bytes),
    functions: Object.fromEntries(
      Object.entries(after.functions).map(([name, { invocations, gbSeconds }]) => {
        const past = before.functions[name] ?? { invocations: 0, gbSeconds: 0 };
        const used = { invocations: invocations - past.invocations, gbSeconds: gbSeconds - past.gbSeconds };
        return [name, used];
      }),
    ),
    totalCalls: after.totalCalls - before.totalCalls,
    usd: less(after.usd, before.usd),
    totalUsd: after.totalUsd - before.totalUsd,
  };
}

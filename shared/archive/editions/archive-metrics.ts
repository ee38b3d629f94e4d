/** What the archive holds and does, as Prometheus reads it. */
import type { Queryable } from "../../platform/database/database.ts";
import type { Family } from "../../platform/observability/exposition.ts";
import { DURATION_BUCKETS, totalUses } from "../usage/usage.ts";
import type { SourceStatistics } from "./sources.ts";

interface JobRow {
  source: string;
  status: string;
  cleanup: string;
  jobs: number;
  crawled: number;
  failed: number;
  bytes: number;
}

/**
 * @param prefixes of the names, each of which all families get
 * @param statistics of its sources
 */
export async function archiveMetrics(
  sql: Queryable,
  statistics: readonly SourceStatistics[],
  prefixes: readonly string[],
): Promise<Family[]> {
  const jobs = await sql<JobRow[]>`
    select source_code as source, status, cleanup_status as cleanup, count(*) as jobs,
      sum(pages_crawled)::bigint as crawled, sum(pages_failed)::bigint as failed, sum(warc_bytes_total)::bigint as bytes
    from archive_jobs group by source_code, status, cleanup_status order by source_code, status, cleanup_status`;
  const uses = await totalUses(sql);
  const families = [...jobFamilies(jobs), ...contentFamilies(statistics), ...searchFamilies(uses)];
  return prefixes.flatMap((prefix) => families.map((family) => ({ ...family, name: `${prefix}_${family.name}` })));
}

const gauge = (name: string, help: string, samples: Family["samples"]): Family => ({
  name,
  type: "gauge",
  help,
  samples,
});
const counter = (name: string, help: string, samples: Family["samples"]): Family => ({
  name,
  type: "counter",
  help,
  samples,
});

/** Sums by a label's values. */
function summed<Row>(rows: readonly Row[], label: string, of: (row: Row) => string, value: (row: Row) => number) {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(of(row), (sums.get(of(row)) ?? 0) + value(row));
  return [...sums].map(([name, sum]) => ({ labels: { [label]: name }, value: sum }));
}

/** The whole, and then its parts by source. */
function withSources<Row>(rows: readonly Row[], of: (row: Row) => string, value: (row: Row) => number) {
  const whole = rows.reduce((sum, row) => sum + value(row), 0);
  return [{ labels: {}, value: whole }, ...summed(rows, "source", of, value)];
}

function jobFamilies(rows: readonly JobRow[]): Family[] {
  const bySource = (value: (row: JobRow) => number) => withSources(rows, ({ source }) => source, value);
  return [
    gauge(
      "jobs_total",
      "Archive jobs by state",
      summed(
        rows,
        "status",
        ({ status }) => status,
        ({ jobs }) => jobs,
      ),
    ),
    gauge(
      "jobs_cleanup_status_total",
      "Archive jobs by what became of their temporary files",
      summed(
        rows,
        "cleanup_status",
        ({ cleanup }) => cleanup,
        ({ jobs }) => jobs,
      ),
    ),
    gauge(
      "jobs_pages_crawled_total",
      "Pages that archive jobs have crawled",
      bySource(({ crawled }) => crawled),
    ),
    gauge(
      "jobs_pages_failed_total",
      "Pages that archive jobs could not crawl",
      bySource(({ failed }) => failed),
    ),
    gauge(
      "jobs_warc_bytes_total",
      "Bytes of what archive jobs have captured",
      bySource(({ bytes }) => bytes),
    ),
  ];
}

function contentFamilies(statistics: readonly SourceStatistics[]): Family[] {
  const bySource = (value: (row: SourceStatistics) => number) => withSources(statistics, ({ code }) => code, value);
  return [
    gauge(
      "snapshots_total",
      "Snapshots, of public sources",
      bySource(({ snapshots }) => snapshots),
    ),
    gauge(
      "pages_total",
      "Pages of which there are snapshots",
      bySource(({ pages }) => pages),
    ),
  ];
}

function searchFamilies(uses: ReadonlyMap<string, number>): Family[] {
  const of = (what: string) => uses.get(what) ?? 0;
  const requests = of("searchRequests");
  const modes = [...uses].filter(([what]) => what.startsWith("searchMode:"));
  return [
    counter("search_requests_total", "Searches of the archive", [{ labels: {}, value: requests }]),
    counter("search_errors_total", "Searches that failed", [{ labels: {}, value: of("searchErrors") }]),
    counter(
      "search_mode_total",
      "Searches by how they were made",
      modes.map(([what, value]) => ({ labels: { mode: what.slice("searchMode:".length) }, value })),
    ),
    {
      name: "search_duration_seconds",
      type: "histogram",
      help: "How long searches took",
      samples: [
        ...DURATION_BUCKETS.map((bound) => ({
          suffix: "_bucket" as const,
          labels: { le: String(bound) },
          value: of(`searchLe:${bound}`),
        })),
        { suffix: "_bucket", labels: { le: "+Inf" }, value: requests },
        { suffix: "_sum", labels: {}, value: of("searchMs") / 1000 },
        { suffix: "_count", labels: {}, value: requests },
      ],
    },
  ];
}

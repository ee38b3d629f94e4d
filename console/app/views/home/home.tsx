/** What is going on: what crawls now, how fast, how each part is, the latest jobs. */
import { useEffect, useState } from "preact/hooks";
import type { ApiKey, Job, Page, Readiness, Stats } from "../../api/types.ts";
import { useApi } from "../../api/use-api.ts";
import { Empty, Fault, Loading, Panel, View } from "../../parts/page.tsx";
import { number, State, Time } from "../../parts/text.tsx";
import { hrefOf } from "../../router.ts";
import { JobTable } from "../jobs/job-table.tsx";
import { ChangedLately, Errors } from "./lately.tsx";
import { Total } from "./total.tsx";
import { Used } from "./use.tsx";

const EVERY_MS = 3000;

export function Home() {
  const jobs = useApi<Page<Job>>("/api/v1/jobs?limit=10", EVERY_MS);
  const items = jobs.data?.items;
  const key = useApi<ApiKey>("/api/v1/api-keys/self");
  const open = (items ?? []).filter(({ completed_at }) => completed_at === null);
  return (
    <View
      title="Home"
      actions={
        <a href={hrefOf(["crawl"])} class="button primary">
          New crawl
        </a>
      }
    >
      <Fault fault={jobs.fault} />
      <Totals jobs={items} />
      <Panel title="Crawling now">
        {items === undefined ? (
          <Loading />
        ) : open.length === 0 ? (
          <Empty>
            Nothing crawls at the moment. <a href={hrefOf(["crawl"])}>Start a crawl</a> with the address of a site.
          </Empty>
        ) : (
          <>
            <JobTable jobs={open} />
            <Waits jobs={open} />
          </>
        )}
      </Panel>
      <Panel title="Latest jobs" aside={<a href={hrefOf(["jobs"])}>All jobs</a>}>
        {items === undefined ? <Loading /> : <JobTable jobs={items.filter((job) => job.completed_at !== null)} />}
      </Panel>
      <div class="columns">
        <ChangedLately />
        <Errors />
      </div>
      <Used isAdmin={key.data?.scopes.includes("admin") === true} />
      <Health />
    </View>
  );
}

/** Hosts that jobs have to wait for, and why. */
function Waits({ jobs }: { jobs: readonly Job[] }) {
  const waits = jobs.flatMap(({ waits }) => waits);
  if (waits.length === 0) return null;
  return (
    <ul class="waits">
      {waits.map(({ code, message, until }) => (
        <li key={message}>
          <code>{code}</code> {message}, until <Time at={until} />
        </li>
      ))}
    </ul>
  );
}

function Totals({ jobs }: { jobs: readonly Job[] | undefined }) {
  const stats = useApi<Stats>("/api/v1/stats", EVERY_MS);
  const rate = useRate(jobs);
  const rows = (table: keyof Stats["tables"]): string => {
    const found = stats.data?.tables[table];
    return found === undefined ? "–" : `${found.estimated ? "≈ " : ""}${number(found.rows)}`;
  };
  const urls = stats.data?.open.urls;
  return (
    <dl class="totals">
      <Total name="Pages a second" value={rate === undefined ? "–" : rate.toFixed(1)} />
      <Total name="URLs to go" value={urls === undefined ? "–" : number(urls)} />
      <Total name="Captures" value={rows("captures")} />
      <Total name="Documents" value={rows("documents")} />
      <Total name="Jobs" value={rows("jobs")} />
    </dl>
  );
}

/** Pages that have ended a second, between two answers about the same open jobs. */
function useRate(jobs: readonly Job[] | undefined): number | undefined {
  const [last, setLast] = useState<{ at: number; ended: Map<string, number>; rate?: number }>();
  useEffect(() => {
    if (jobs === undefined) return;
    const at = performance.now();
    const ended = new Map(jobs.map(({ job_id, counts }) => [job_id, counts.crawled + counts.failed]));
    setLast((before) => {
      if (before === undefined) return { at, ended };
      const pages = [...ended].reduce((sum, [id, count]) => sum + count - (before.ended.get(id) ?? 0), 0);
      return { at, ended, rate: Math.max(0, pages / ((at - before.at) / 1000)) };
    });
  }, [jobs]);
  return last?.rate;
}

function Health() {
  const { data, fault } = useApi<Readiness>("/api/v1/health/ready", 15_000);
  return (
    <Panel title="Health">
      <Fault fault={fault} />
      {data === undefined ? null : (
        <ul class="health">
          {Object.entries(data.checks).map(([part, state]) => (
            <li key={part}>
              <span>{part}</span> <State of={state} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

/** What changed lately on the sites that are crawled, and what went wrong. */
import type { ChangeList, FailedJob, FailedJobList } from "../../api/types.ts";
import { useApi } from "../../api/use-api.ts";
import { Empty, Fault, Loading, Panel } from "../../parts/page.tsx";
import { number, Time } from "../../parts/text.tsx";
import { hrefOf } from "../../router.ts";

/** Of those that the API tells of, the ones that are no first sight of a page. */
const SHOWN = 8;

export function ChangedLately() {
  const { data, fault } = useApi<ChangeList>("/api/changes?pageSize=100", 30_000);
  const changed = (data?.results ?? []).filter(({ changeType }) => changeType === "updated").slice(0, SHOWN);
  return (
    <Panel title="Changed lately" aside={<a href={hrefOf(["sources"])}>Sources</a>}>
      <Fault fault={fault} />
      {data === undefined && fault === undefined ? <Loading /> : null}
      {data !== undefined && changed.length === 0 ? (
        <Empty>
          No page has changed between the last crawls. A <a href={hrefOf(["sources"])}>source</a> is crawled again and
          again.
        </Empty>
      ) : null}
      <ul class="waits">
        {changed.map(
          ({ changeId, summary, normalizedUrlGroup: url, fromSnapshotId, toSnapshotId, toCaptureTimestamp }) => (
            <li key={changeId}>
              <a
                class="address"
                href={hrefOf(["archive"], {
                  url,
                  at: String(toSnapshotId),
                  with: fromSnapshotId === null ? undefined : String(fromSnapshotId),
                })}
              >
                {url}
              </a>
              <div class="faint">
                {summary}, <Time at={toCaptureTimestamp} />
              </div>
            </li>
          ),
        )}
      </ul>
    </Panel>
  );
}

/** Of the latest jobs with failures, by code; each leads to the job that has most of them. */
export function Errors() {
  const { data, fault } = useApi<FailedJobList>("/api/v1/jobs/failed?limit=20", 15_000);
  const kinds = kindsOf(data?.items ?? []);
  return (
    <Panel title="Errors by kind">
      <Fault fault={fault} />
      {data !== undefined && kinds.length === 0 ? <p class="faint">None of the latest jobs has failed URLs.</p> : null}
      <ul class="bars">
        {kinds.map(({ code, count, worst }) => (
          <li key={code}>
            <a href={hrefOf(["jobs", worst])}>
              <code>{code}</code>
            </a>
            <meter min={0} max={kinds[0]?.count ?? 1} value={count} aria-label={`${code}: ${count} URLs`} />
            <span class="figure">{number(count)}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

interface Kind {
  code: string;
  count: number;
  worst: string;
}

function kindsOf(jobs: readonly FailedJob[]): Kind[] {
  const kinds = new Map<string, Kind & { most: number }>();
  for (const { job_id, errors } of jobs) {
    for (const { code, count } of errors) {
      const kind = kinds.get(code) ?? { code, count: 0, worst: job_id, most: 0 };
      const isWorst = count > kind.most;
      kinds.set(code, {
        code,
        count: kind.count + count,
        worst: isWorst ? job_id : kind.worst,
        most: Math.max(count, kind.most),
      });
    }
  }
  return [...kinds.values()].sort((one, other) => other.count - one.count).slice(0, 8);
}

/** One job, live: progress, rate, what failed and why, the pages as they arrive. */
import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { hasEnded } from "../../api/follow-job.ts";
import type { Crawl, JobCounts, JobProgress } from "../../api/types.ts";
import { useAction, useApi } from "../../api/use-api.ts";
import { useJobProgress } from "../../api/watch-job.ts";
import { Line, type Sample } from "../../parts/charts.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Fault, Loading, Panel, View } from "../../parts/page.tsx";
import { Preformatted } from "../../parts/preformatted.tsx";
import { number, State, Time } from "../../parts/text.tsx";
import { goTo } from "../../router.ts";
import { Downloads } from "./downloads.tsx";
import { Failures } from "./failures.tsx";
import { jobTitle } from "./job-table.tsx";
import { ResultTable } from "./result-table.tsx";
import { Spread } from "./spread.tsx";
import { useResults } from "./use-results.ts";

const EVERY_MS = 5000;
/** URLs of the frontier that are shown. */
const NEXT = 20;

export function JobView({ id }: { id: string }) {
  const { progress, fault, isStreamed } = useJobProgress(id);
  const isOver = progress !== undefined && hasEnded(progress);
  // of a job that runs again and again; once more, as another question, for how it went
  const details = useApi<Crawl>(
    `/api/v1/crawl/${encodeURIComponent(id)}?limit=${isOver ? 1 : 2}&frontier=${NEXT}`,
    isOver ? undefined : EVERY_MS,
  );
  const job = details.data;
  const counts = progress?.counts ?? job?.counts;
  const ended = counts === undefined ? undefined : counts.crawled + counts.failed + counts.skipped;
  const results = useResults(id, ended);
  return (
    <View
      title={job === undefined ? "Job" : jobTitle(job)}
      actions={progress === undefined ? undefined : <Actions id={id} isOver={isOver} counts={progress.counts} />}
    >
      <Fault fault={fault ?? details.fault} />
      {progress === undefined ? fault === undefined ? <Loading /> : null : <Standing progress={progress} />}
      {progress === undefined || isOver ? null : (
        <p class="faint">{isStreamed ? "Told live by the server." : "Asked for every two seconds."}</p>
      )}
      <Rate ended={ended} isOver={isOver} />
      {job === undefined ? null : <Failures job={job} />}
      {job?.frontier ? <Spread frontier={job.frontier} isOver={isOver} /> : null}
      <ResultTable results={results} isOver={isOver} />
      {job === undefined ? null : (
        <details>
          <summary>Settings of this job</summary>
          <Preformatted>{JSON.stringify(job.run, null, 2)}</Preformatted>
        </details>
      )}
    </View>
  );
}

function Standing({ progress }: { progress: JobProgress }) {
  const { status, stop_reason, error, counts, waits, started_at, completed_at } = progress;
  const ended = counts.crawled + counts.failed + counts.skipped;
  return (
    <Panel title="Progress" aside={<State of={status} />}>
      <progress value={ended} max={Math.max(1, counts.discovered)} aria-label="Progress" />
      <dl class="totals">
        {(["discovered", "open", "crawled", "failed", "skipped", "documents"] as const).map((name) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{number(counts[name])}</dd>
          </div>
        ))}
      </dl>
      <p>
        Begun <Time at={started_at} />
        {completed_at === null ? null : (
          <>
            , ended <Time at={completed_at} />
          </>
        )}
        {stop_reason === null || stop_reason === "completed" ? null : `, because of ${stop_reason}`}
      </p>
      {error === null ? null : <p class="fault">{error}</p>}
      {status === "embedding" ? <p>{number(counts.unembedded_chunks)} passages are still without a vector.</p> : null}
      {waits.length === 0 ? null : (
        <ul class="waits">
          {waits.map(({ code, message, until }) => (
            <li key={message}>
              <code>{code}</code> {message}, until <Time at={until} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function Actions({ id, isOver, counts }: { id: string; isOver: boolean; counts: JobCounts }) {
  const retry = useAction(async () => {
    const { job_id } = await call<{ job_id: string }>(`/api/v1/jobs/${encodeURIComponent(id)}/retry`, { body: {} });
    goTo(["jobs", job_id]);
  });
  if (!isOver) {
    return (
      <Confirm
        label="Cancel job"
        question="Cancel this job?"
        act={async () => void (await call(`/api/v1/crawl/${encodeURIComponent(id)}/cancel`, { method: "POST" }))}
      >
        <p>
          What was fetched so far stays in the archive, and nothing of it becomes searchable. {number(counts.open)} URLs
          are not fetched any more.
        </p>
      </Confirm>
    );
  }
  return (
    <>
      <Downloads id={id} />
      <button type="button" onClick={() => void retry.run()} disabled={retry.isRunning}>
        Retry
      </button>
      <Fault fault={retry.fault} />
    </>
  );
}

/** The chart keeps so many points, however long the job takes. */
const MOST_SAMPLES = 240;

/** Pages a second, as this view has seen it. */
function Rate({ ended, isOver }: { ended: number | undefined; isOver: boolean }) {
  const [samples, setSamples] = useState<readonly (Sample & { ended: number })[]>([]);
  useEffect(() => {
    if (ended === undefined) return;
    setSamples((before) => {
      const at = performance.now();
      const last = before.at(-1);
      if (last === undefined) return [{ at, ended, value: 0 }];
      if (at - last.at < 500) return before;
      const value = Math.max(0, (ended - last.ended) / ((at - last.at) / 1000));
      return [...before, { at, ended, value }].slice(-MOST_SAMPLES);
    });
  }, [ended]);
  if (isOver || samples.length < 3) return null;
  const now = samples.at(-1)?.value ?? 0;
  return (
    <Panel title="Pages a second" aside={<span>{now.toFixed(1)}</span>}>
      <Line samples={samples} label={`Pages a second over time, ${now.toFixed(1)} now`} />
    </Panel>
  );
}

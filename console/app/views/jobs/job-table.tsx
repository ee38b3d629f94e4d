/** Jobs as rows: what they crawl, how they stand, how far they are. */
import type { Job } from "../../api/types.ts";
import { number, State, Time } from "../../parts/text.tsx";
import { hrefOf } from "../../router.ts";

export function JobTable({ jobs }: { jobs: readonly Job[] }) {
  if (jobs.length === 0) return <p class="faint">None yet.</p>;
  return (
    <div class="scroll">
      <table class="rows">
        <thead>
          <tr>
            <th scope="col">Job</th>
            <th scope="col">State</th>
            <th scope="col">Progress</th>
            <th scope="col" class="figure">
              Failed
            </th>
            <th scope="col">Begun</th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <tr key={job.job_id}>
              <td>
                <a href={hrefOf(["jobs", job.job_id])} class="address">
                  {jobTitle(job)}
                </a>
                <div class="faint">
                  {job.kind}, priority {job.priority}
                </div>
              </td>
              <td>
                <State of={job.status} />
              </td>
              <td>
                <Progress job={job} />
              </td>
              <td class="figure">{number(job.counts.failed)}</td>
              <td>
                <Time at={job.created_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function jobTitle({
  settings: { seeds = [] },
  job_id,
  kind,
}: Pick<Job, "settings" | "job_id" | "kind">): string {
  const [first, ...others] = seeds;
  if (first === undefined) return `${kind} ${job_id}`;
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

function Progress({ job: { counts, job_id } }: { job: Job }) {
  const ended = counts.crawled + counts.failed + counts.skipped;
  return (
    <>
      <progress value={ended} max={Math.max(1, counts.discovered)} aria-label={`Progress of job ${job_id}`} />
      <div class="faint">
        {number(ended)} of {number(counts.discovered)} URLs
      </div>
    </>
  );
}

/** All jobs, and one job: `#/jobs`, `#/jobs?status=failed`, `#/jobs/ID`. */

import { withQuery } from "../../api/client.ts";
import type { Job } from "../../api/types.ts";
import { usePages } from "../../api/use-api.ts";
import { Listed, View } from "../../parts/page.tsx";
import { goTo, hrefOf, type Place } from "../../router.ts";
import { JobView } from "./job.tsx";
import { JobTable } from "./job-table.tsx";

const STATUSES = ["pending", "running", "embedding", "completed", "failed", "cancelled"];

export function Jobs({ place: { path, query } }: { place: Place }) {
  const id = path[1];
  if (id !== undefined) return <JobView key={id} id={id} />;
  return <JobList status={query.get("status") ?? ""} />;
}

function JobList({ status }: { status: string }) {
  const pages = usePages<Job>(withQuery("/api/v1/jobs", { status, limit: 50 }));
  return (
    <View
      title="Jobs"
      actions={
        <>
          <label class="inline">
            State{" "}
            <select value={status} onChange={({ currentTarget }) => goTo(["jobs"], { status: currentTarget.value })}>
              <option value="">all</option>
              {STATUSES.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
          <button type="button" onClick={pages.reload}>
            Look again
          </button>
        </>
      }
    >
      <Listed
        pages={pages}
        empty={
          status === "" ? (
            <>
              No job yet. <a href={hrefOf(["crawl"])}>Start a crawl</a>, and it shows here.
            </>
          ) : (
            <>
              No job is {status}. <a href={hrefOf(["jobs"])}>Show all jobs</a>
            </>
          )
        }
      >
        {(jobs) => <JobTable jobs={jobs} />}
      </Listed>
    </View>
  );
}

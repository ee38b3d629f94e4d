/** Has the list of a source read, for a job that waits for what it names. */
import type { Sql, Transaction } from "../../platform/database/database.ts";
import { readDiscoveryJob, sendDiscovery } from "../discovery/jobs.ts";
import type { WantedList } from "../discovery/list-task.ts";
import type { JobDependencies } from "../jobs/dependencies.ts";

/** To be called in the transaction that writes the job. */
export async function noteListDue(
  tx: Transaction,
  jobId: string,
  list: WantedList,
  apiKeyId: string | null,
): Promise<void> {
  await tx`
    insert into discovery_jobs (id, domain, sources, max_urls, list, api_key_id)
    values (${jobId}, ${new URL(list.url).host}, ${["list"]}, 0, ${JSON.stringify(list)}::text::jsonb, ${apiKeyId})`;
}

/** To be called after the commit: what cannot be sent now is sent by the sweep. */
export async function sendList(
  dependencies: Pick<JobDependencies, "queues" | "log"> & { sql: Sql },
  jobId: string,
): Promise<void> {
  const due = await readDiscoveryJob(dependencies.sql, jobId);
  if (due?.status === "pending") await sendDiscovery(dependencies, due);
}

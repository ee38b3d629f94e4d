/** Has the WARC files of an engine's runs imported: each once, as files of others are, for the job that they are of. */
import type { JobDependencies } from "../../crawl/jobs/dependencies.ts";
import type { ObjectStore } from "../../platform/aws/objects.ts";
import type { Uploads } from "../../platform/aws/uploads.ts";
import { beginImport, sendImport } from "../import/imports.ts";
import type { ArchiveJob } from "./archive-jobs.ts";
import { listRuns, warcsOf } from "./engine-runs.ts";

export interface WarcsDependencies extends JobDependencies {
  objects: Pick<ObjectStore, "put" | "get">;
  uploads: Pick<Uploads, "head">;
}

/** May be called again: what has begun is left as it is. */
export async function importWarcs(dependencies: WarcsDependencies, { id, sourceCode }: ArchiveJob): Promise<void> {
  const { sql, queues, uploads, log } = dependencies;
  for (const { key } of warcsOf(await listRuns(sql, id))) {
    const [known] = await sql<{ owner: number | null }[]>`
      select j.archive_job_id as owner from warc_imports i join jobs j on j.id = i.job_id where i.object_key = ${key}`;
    if (known?.owner === id) continue;
    const object = await uploads.head(key);
    if (object === undefined) {
      log.error("a WARC file of a run is no longer in the bucket", { archive_job_id: id, key });
      continue;
    }
    const begun = await beginImport(dependencies, { key, ...object }, { source: sourceCode });
    await sql`
      update jobs set archive_job_id = ${id} where id = (select job_id from warc_imports where id = ${begun.id})`;
    if (!begun.begun) await sendImport(queues, begun.id);
  }
}

/** What sources and their archive jobs take in the bucket. */
import type { ListedObjects } from "../../platform/aws/listed-objects.ts";
import type { Sql } from "../../platform/database/database.ts";
import { OUTPUT_PREFIX } from "./job-name.ts";
import { measureStorage } from "./run-jobs.ts";

export interface SourceStorage {
  sourceCode: string;
  jobs: number;
  warcFileCount: number;
  warcBytesTotal: number;
  temporaryBytes: number;
  cleanedJobs: number;
}

/** Counts anew what each job has, and keeps it with the job. */
export async function reportStorage({ sql, objects }: { sql: Sql; objects: ListedObjects }): Promise<{
  items: SourceStorage[];
  warcFileCount: number;
  warcBytesTotal: number;
}> {
  for (const { id } of await sql<{ id: number }[]>`select id from archive_jobs order by id`) {
    await measureStorage(sql, id);
  }
  const rows = await sql<Omit<SourceStorage, "temporaryBytes">[]>`
    select source_code as "sourceCode", count(*) as jobs, sum(warc_file_count)::bigint as "warcFileCount",
      sum(warc_bytes_total)::bigint as "warcBytesTotal",
      count(*) filter (where cleanup_status = 'temp_cleaned') as "cleanedJobs"
    from archive_jobs group by source_code order by source_code`;
  const items: SourceStorage[] = [];
  for (const row of rows) {
    items.push({ ...row, temporaryBytes: await bytesBelow(objects, `${OUTPUT_PREFIX}${row.sourceCode}/`) });
  }
  const sum = (field: "warcFileCount" | "warcBytesTotal") => items.reduce((total, each) => total + each[field], 0);
  return { items, warcFileCount: sum("warcFileCount"), warcBytesTotal: sum("warcBytesTotal") };
}

async function bytesBelow(objects: ListedObjects, prefix: string): Promise<number> {
  let bytes = 0;
  for (let after = ""; ; ) {
    const found = await objects.list(prefix, after);
    for (const object of found) bytes += object.bytes;
    const last = found.at(-1);
    if (last === undefined) return bytes;
    after = last.key;
  }
}

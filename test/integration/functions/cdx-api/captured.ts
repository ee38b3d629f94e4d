/** Captures as rows, without the crawl or the import that would make them. */
import { urlKey } from "../../../../shared/crawl/urls/surt.ts";
import type { Sql } from "../../../../shared/platform/database/database.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";

export interface TestCapture {
  url: string;
  /** ISO 8601. */
  time: string;
  status?: number;
  mimeType?: string | null;
  digest?: string;
  revisitOf?: number;
  /** As of a version that knew no keys. */
  withoutKey?: boolean;
  reusedFrom?: number;
}

let serial = 0;

/** @returns their ids */
export async function insertTestCaptures(
  sql: Sql,
  captures: readonly TestCapture[],
  jobId = uuidv7(),
): Promise<number[]> {
  await sql`
    insert into jobs (id, kind, status, generation_id, settings)
    values (${jobId}, 'pages', 'completed', ${uuidv7()}, '{}') on conflict do nothing`;
  const ids: number[] = [];
  for (const capture of captures) {
    const { url, time, status = 200, mimeType = "text/html", digest = "sha256:00" } = capture;
    const offset = 100 * ++serial;
    const [row] = await sql<{ id: number }[]>`
      insert into captures (job_id, url, url_hash, final_url, final_url_hash, depth, status_code, headers, mime_type, fetched_at,
        fetch_time_ms, payload_bytes, payload_digest, truncated, not_modified, batch_key, batch_index, warc_key, warc_offset,
        warc_length, warc_record_id, revisit_of, reused_from, url_key)
      values (${jobId}, ${url}, '', ${url}, '', 0, ${status}, '[]', ${mimeType}, ${time}, 0, 0, ${digest}, false, false, '', 0,
        'warcs/a.warc.gz', ${offset}, 90, ${uuidv7()}, ${capture.revisitOf ?? null}, ${capture.reusedFrom ?? null},
        ${capture.withoutKey ? null : urlKey(url)})
      returning id`;
    ids.push(row?.id as number);
  }
  return ids;
}

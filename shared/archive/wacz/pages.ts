/** The list of an export's pages, with their text. */

import type { Capture } from "../../capture/capture.ts";
import { readCaptureBatch } from "../../capture/capture-batch.ts";
import type { ObjectStore } from "../../platform/aws/objects.ts";
import type { Sql } from "../../platform/database/database.ts";
import { PermanentError, RetryableError } from "../../platform/errors.ts";
import { isShown } from "../exclusions/is-shown.ts";

const AT_ONCE = 200;
const HEAD = { format: "json-pages-1.0", id: "pages", title: "All Pages", hasText: true };

interface PageRow {
  id: number;
  url: string;
  time: Date;
  title: string | null;
  depth: number;
  batchKey: string;
  batchIndex: number;
}

/** Whose pages are listed: a job's, or those among some captures, whose ids are in order. */
export type PagesOf = { jobId: string; ids?: undefined } | { jobId?: undefined; ids: readonly number[] };

export interface PageCount {
  pages: number;
  /** The first of them, where the crawl began. */
  main: { url: string; time: Date } | undefined;
}

/** Lines of pages.jsonl; `count` is kept up to date. */
export async function* pageLines(
  { sql, objects }: { sql: Sql; objects: Pick<ObjectStore, "get"> },
  of: PagesOf,
  count: PageCount,
): AsyncGenerator<Buffer> {
  yield lineOf(HEAD);
  let batch: { key: string; captures: readonly Capture[] } | undefined;
  for (let after = 0, begun = 0; ; begun += AT_ONCE) {
    const some = of.ids?.slice(begun, begun + AT_ONCE);
    const rows = await sql<PageRow[]>`
      select id, final_url as url, fetched_at as time, title, depth, batch_key as "batchKey", batch_index as "batchIndex"
      from captures c
      where ${isShown(sql)} and ${some ? sql`id = any(${some}::bigint[])` : sql`job_id = ${of.jobId ?? null} and id > ${after}`} and warc_key is not null and error_code is null
        and status_code between 200 and 299 and mime_type in ('text/html', 'application/xhtml+xml')
      order by id limit ${AT_ONCE}`;
    for (const row of rows) {
      if (batch?.key !== row.batchKey) batch = { key: row.batchKey, captures: await capturesOf(objects, row.batchKey) };
      const text = batch.captures[row.batchIndex]?.extraction?.text;
      const { url, time, title, depth } = row;
      count.pages++;
      count.main ??= { url, time };
      const ts = time.toISOString();
      yield lineOf({
        id: String(row.id),
        url,
        ts,
        ...(title && { title }),
        ...(text && { text }),
        ...(depth === 0 && { seed: true }),
      });
    }
    const last = rows.at(-1);
    if (some ? some.length < AT_ONCE : last === undefined || rows.length < AT_ONCE) return;
    after = last?.id ?? after;
  }
}

/** A batch that has gone costs the text of its pages, and no page. */
async function capturesOf(objects: Pick<ObjectStore, "get">, key: string): Promise<readonly Capture[]> {
  try {
    return await readCaptureBatch(objects as ObjectStore, key);
  } catch (error) {
    if (error instanceof RetryableError || error instanceof PermanentError) return [];
    throw error;
  }
}

const lineOf = (value: object): Buffer => Buffer.from(`${JSON.stringify(value)}\n`);

/** Where the pictures of entry pages are to be had. */
import type { Queryable } from "../../platform/database/database.ts";
import type { SourceLanguage } from "./source.ts";

export const previewUrl = (code: string, { jobId, language }: { jobId: number; language: SourceLanguage }): string =>
  `/api/sources/${code}/preview?jobId=${jobId}&lang=${language}`;

/** By the capture that a picture is of; those without one are left out. */
export async function readPreviewUrls(sql: Queryable, captureIds: readonly number[]): Promise<Map<number, string>> {
  const found = await sql<{ captureId: number; code: string; jobId: number; language: SourceLanguage }[]>`
    select p.capture_id as "captureId", a.source_code as code, a.id as "jobId", p.language
    from edition_previews p join archive_jobs a on a.id = p.archive_job_id
    where p.capture_id = any(${captureIds}) and p.status = 'taken' order by p.language desc`;
  return new Map(found.map(({ captureId, code, ...of }) => [captureId, previewUrl(code, of)]));
}

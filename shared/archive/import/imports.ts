/** The rows of WARC imports: announced, begun, shown. */
import { requireStorage } from "../../access/quotas.ts";
import { crawlConfigSchema } from "../../crawl/settings/crawl-config.ts";
import { jobSettingsSchema } from "../../crawl/settings/job-settings.ts";
import type { JobFlags } from "../../crawl/tasks/job-flags.ts";
import { ANYWHERE } from "../../crawl/urls/scope.ts";
import type { QueueSender } from "../../platform/aws/queues.ts";
import { inTransaction, type Sql, type Transaction } from "../../platform/database/database.ts";
import { uuidv7 } from "../../platform/ids.ts";
import type { PackageSignature } from "../wacz-file/signed-data.ts";
import { IMPORTS_QUEUE, type ImportTask, INCOMING_PREFIX, type UploadedObject } from "./task.ts";

export type ImportStatus = "announced" | "pending" | "running" | "completed" | "failed";

export interface ImportView {
  id: string;
  jobId: string | null;
  key: string;
  bytes: number | null;
  sha256: string | null;
  status: ImportStatus;
  error: string | null;
  /** Bytes of the object that have been indexed. */
  indexedBytes: number;
  /** By WARC-Type. */
  records: Record<string, number>;
  captures: number;
  /** Revisits whose original is nowhere in the archive. */
  danglingRevisits: number;
  /** Null of what is no WACZ file. */
  signature: PackageSignature | null;
  /** Captures that are not stored yet. */
  openCaptures: number;
  documents: number;
  complaints: number;
  createdAt: Date;
  completedAt: Date | null;
}

export interface ImportComplaint {
  code: string;
  message: string;
  offset: number;
  recordId: string | null;
  url: string | null;
}

export interface ImportsDependencies {
  sql: Sql;
  queues: QueueSender;
  flags: Pick<JobFlags, "markActive">;
}

/** A file that is going to be uploaded. */
export interface Announcement {
  /** What its id must be: where there is an import with it, that is the one. */
  id?: string | undefined;
  /** Of the file, without a path. */
  filename: string;
  bytes: number;
  /** Hex. */
  sha256: string;
  apiKeyId: string | null;
  /** Code of the source that its captures belong to. */
  source?: string | undefined;
}

/**
 * @returns the import, and the key that the file is to be uploaded to
 * @throws ApiError 403 STORAGE_QUOTA_EXCEEDED
 */
export async function announceImport(
  sql: Sql,
  { id = uuidv7(), filename, bytes, sha256, apiKeyId, source }: Announcement,
): Promise<{ id: string; key: string }> {
  // a key of its own: what captures point to is never written over
  const key = `${INCOMING_PREFIX}${id}/${filename}`;
  await inTransaction(sql, (tx) => requireStorage(tx, apiKeyId));
  await sql`
    insert into warc_imports (id, object_key, bytes, sha256, status, api_key_id, source_code)
    values (${id}, ${key}, ${bytes}, ${sha256}, 'announced', ${apiKeyId}, ${source ?? null})
    on conflict (id) do nothing`;
  return { id, key };
}

/**
 * Makes the import of an object, with its job, or finds the one that is there: the same object twice is one import.
 * @param by who asks for it, and the code of the source that its captures belong to
 * @returns its id; `begun` where there is nothing left to start
 * @throws ApiError 403 STORAGE_QUOTA_EXCEEDED
 */
export async function beginImport(
  { sql, flags }: Omit<ImportsDependencies, "queues">,
  object: UploadedObject,
  { apiKeyId = null, source }: { apiKeyId?: string | null; source?: string | undefined } = {},
): Promise<{ id: string; begun: boolean }> {
  // before the commit: a job that the sweep does not know of could hang
  await flags.markActive();
  return await inTransaction(sql, async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${object.key}, 0))`;
    const known = await tx<
      {
        id: string;
        etag: string | null;
        status: ImportStatus;
        bytes: number | null;
        source: string | null;
        announcedBy: string | null;
      }[]
    >`
      select id, etag, status, bytes, source_code as source, api_key_id as "announcedBy" from warc_imports where object_key = ${object.key} order by created_at`;
    const same = known.find(({ etag }) => etag === object.etag);
    if (same !== undefined) return { id: same.id, begun: same.status === "completed" || same.status === "failed" };
    const announced = known.find(({ status }) => status === "announced");
    await requireStorage(tx, apiKeyId);
    const id = announced?.id ?? uuidv7();
    const error = refusal(object, announced?.bytes ?? null, known.length > 0 && announced === undefined);
    const jobId =
      error === null
        ? await insertImportJob(tx, object.key, announced?.announcedBy ?? apiKeyId, announced?.source ?? source ?? null)
        : null;
    await tx`
      insert into warc_imports (id, job_id, object_key, etag, bytes, status, error, api_key_id, completed_at)
      values (${id}, ${jobId}, ${object.key}, ${object.etag}, ${object.bytes}, ${error === null ? "pending" : "failed"},
        ${error}, ${apiKeyId}, case when ${error !== null} then now() end)
      on conflict (id) do update set job_id = excluded.job_id, etag = excluded.etag, bytes = excluded.bytes,
        status = excluded.status, error = excluded.error, completed_at = excluded.completed_at, updated_at = now()`;
    return { id, begun: error !== null };
  });
}

function refusal({ bytes }: UploadedObject, announced: number | null, replaces: boolean): string | null {
  if (replaces) {
    return (
      "OBJECT_REPLACED: another file was indexed under this key, and its captures point to what is no longer there. " +
      "Restore that version of the object, and upload this file under a key of its own"
    );
  }
  if (announced === null || announced === bytes) return null;
  return `SIZE_MISMATCH: ${announced} bytes were announced, and ${bytes} were uploaded: announce and upload it again`;
}

/** The file itself counts as one open URL until it is read to its end, so that its job ends no sooner. */
async function insertImportJob(
  tx: Transaction,
  key: string,
  apiKeyId: string | null,
  source: string | null,
): Promise<string> {
  const jobId = uuidv7();
  const settings = jobSettingsSchema.parse({
    seeds: [key],
    scope: ANYWHERE,
    max_depth: 0,
    max_pages: 1,
    replaces: "pages",
    config: crawlConfigSchema.parse({}),
    tags: [],
  });
  await tx`
    insert into jobs (id, kind, priority, api_key_id, generation_id, settings, discovered, open_urls, source_code, hidden)
    values (${jobId}, 'import', 'low', ${apiKeyId}, ${uuidv7()}, ${JSON.stringify(settings)}::text::jsonb, 1, 1, ${source},
      exists (select from sources where code = ${source} and reserved))`;
  return jobId;
}

export async function sendImport(queues: QueueSender, importId: string): Promise<void> {
  await queues.send(IMPORTS_QUEUE, { importId } satisfies ImportTask);
}

export async function readImport(sql: Sql, id: string): Promise<ImportView | undefined> {
  const [view] = await selectImports(sql, sql`i.id = ${id}`, 1);
  return view;
}

/** Newest first. */
export async function listImports(
  sql: Sql,
  { limit, after }: { limit: number; after: string | undefined },
): Promise<ImportView[]> {
  return await selectImports(sql, after === undefined ? sql`true` : sql`i.id < ${after}`, limit);
}

async function selectImports(sql: Sql, where: ReturnType<Sql>, limit: number): Promise<ImportView[]> {
  return await sql<ImportView[]>`
    select i.id, i.job_id as "jobId", i.object_key as key, i.bytes, i.sha256, i.error, i.records, i.captures,
      i.complaints, i.created_at as "createdAt", i.completed_at as "completedAt",
      -- read to its end, and not all stored and embedded yet
      case when i.status = 'completed' and j.status in ('pending', 'running', 'embedding') then 'running'
        else i.status end as status,
      case when i.status = 'completed' then i.bytes else i.indexed_bytes end as "indexedBytes", i.signature,
      coalesce(j.open_urls, 0) as "openCaptures", coalesce(j.documents, 0) as documents,
      (select count(*)::int from captures c
        where c.job_id = i.job_id and c.refers_to is not null and c.revisit_of is null) as "danglingRevisits"
    from warc_imports i left join jobs j on j.id = i.job_id
    where ${where} order by i.id desc limit ${limit}`;
}

/** In the order of the file. */
export async function readComplaints(sql: Sql, importId: string, limit: number): Promise<ImportComplaint[]> {
  return await sql<ImportComplaint[]>`
    select code, message, byte_offset as offset, record_id as "recordId", url
    from warc_complaints where import_id = ${importId} order by seq limit ${limit}`;
}

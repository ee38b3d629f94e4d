/** Stores prepared documents as a job of their own, whose generation is visible at once; the vectors follow. */
import { countUploads } from "../access/quotas.ts";
import type { JobRow } from "../crawl/jobs/lifecycle.ts";
import { addCounts, lockJob, settleJob } from "../crawl/jobs/lifecycle.ts";
import type { CrawlConfig } from "../crawl/settings/crawl-config.ts";
import { jobSettingsSchema } from "../crawl/settings/job-settings.ts";
import { ANYWHERE } from "../crawl/urls/scope.ts";
import { type IndexTarget, insertDocuments, type NewDocument } from "../knowledge/documents/documents.ts";
import { inTransaction, type Transaction } from "../platform/database/database.ts";
import { ApiError } from "../platform/errors.ts";
import { uuidv7 } from "../platform/ids.ts";
import { type LibraryDependencies, reembed } from "./change-documents.ts";
import type { Waiting } from "./recut-documents.ts";
import { ensureTags } from "./tags.ts";

export interface Prepared {
  /** Lower case. */
  tags: readonly string[];
  /** Of the document's, what whoever sends it has named. */
  metadata: Record<string, unknown>;
  document: NewDocument;
}

export interface Uploaded {
  document_id: string;
  url: string;
  title: string | null;
  language: string;
  chunks: number;
  /** `unchanged`: the document that is there says the same; `updated`: it was replaced. */
  outcome: "created" | "updated" | "unchanged";
  /** Of the upload; null where nothing changed. */
  job_id: string | null;
}

export interface StoredGroup {
  /** In the order of the group. */
  outcomes: Uploaded[];
  jobId: string;
  /** Of the chunks that are new, and wait for a vector where there is an embedder. */
  chunkIds: readonly string[];
  /** Chunks of documents that are the same but for their tags, which their vectors are to carry. */
  waiting: readonly Waiting[];
}

export interface StoreSettings {
  collectionId: string | null;
  apiKeyId: string | null;
  config: CrawlConfig;
  source: NonNullable<IndexTarget["source"]>;
  /** False where there is no embedder. */
  wantsVectors: boolean;
}

/**
 * In one transaction: all of them, or none. Of several of one URL the last one stays.
 * @throws ApiError 404 NOT_FOUND where the collection is not there, 403 STORAGE_QUOTA_EXCEEDED
 */
export async function storeDocuments(
  { sql, log }: Pick<LibraryDependencies, "sql" | "log">,
  group: readonly Prepared[],
  settings: StoreSettings,
): Promise<StoredGroup> {
  const { collectionId, wantsVectors } = settings;
  const jobId = uuidv7();
  return await inTransaction(sql, async (tx) => {
    const known = await knownDocuments(tx, collectionId, group);
    await ensureTags(
      tx,
      group.flatMap(({ tags }) => tags),
    );
    const outcomes = group.map((each) => outcomeOf(jobId, each, known.get(each.document.row.hash)));
    const last = new Map(group.map(({ document }, at) => [document.row.hash, at]));
    const fresh = group.filter(
      ({ document }, at) => last.get(document.row.hash) === at && outcomes[at]?.outcome !== "unchanged",
    );
    for (const [at, { document }] of group.entries()) {
      const stays = last.get(document.row.hash) ?? at;
      if (stays !== at) outcomes[at] = outcomes[stays] as Uploaded;
    }
    const waiting = await reembed(tx, await tagThem(tx, group, outcomes, "unchanged"));
    if (fresh.length === 0) return { outcomes, jobId, chunkIds: [], waiting };
    const job = await insertUploadJob(tx, jobId, fresh, settings);
    const target = {
      jobId,
      generationId: job.generationId,
      collectionId,
      tags: [],
      wantsVectors,
      source: settings.source,
      uploadedBy: settings.apiKeyId,
    };
    const { documents, chunkIds } = await insertDocuments(
      tx,
      target,
      fresh.map(({ document }) => document),
    );
    await tagThem(tx, group, outcomes, "created", "updated");
    const storedBytes = await uploadBytes(tx, job.generationId);
    await countUploads(tx, settings.apiKeyId, { documents, storedBytes });
    const unembedded = wantsVectors ? chunkIds.length : 0;
    await addCounts(tx, job, {
      discovered: documents,
      crawled: documents,
      documents,
      chunks: chunkIds.length,
      unembedded,
    });
    // visible for keywords at once
    if ((await settleJob(tx, jobId, log)) === "embedding") await settleJob(tx, jobId, log, { withoutVectors: true });
    return { outcomes, jobId, chunkIds, waiting };
  });
}

async function uploadBytes(tx: Transaction, generationId: string): Promise<number> {
  const [row] = await tx<{ bytes: number }[]>`
    select coalesce(sum(upload_bytes), 0)::bigint as bytes from documents where generation_id = ${generationId}`;
  return row?.bytes ?? 0;
}

interface Known {
  id: string;
  hash: string;
  contentHash: string;
  title: string | null;
  metadata: Record<string, unknown>;
}

async function knownDocuments(
  tx: Transaction,
  collectionId: string | null,
  group: readonly Prepared[],
): Promise<ReadonlyMap<string, Known>> {
  if (collectionId !== null) {
    // it is not deleted meanwhile
    const [found] = await tx`select from collections where id = ${collectionId} for key share`;
    if (found === undefined) {
      throw new ApiError(404, `There is no collection ${collectionId} (collection_id)`, { code: "NOT_FOUND" });
    }
  }
  const rows = await tx<Known[]>`
    select id, encode(url_hash, 'hex') as hash, encode(content_hash, 'hex') as "contentHash", title, metadata
    from documents_active
    where url_hash in (select decode(h, 'hex') from unnest(${group.map(({ document }) => document.row.hash)}::text[]) h)
      and collection_id is not distinct from ${collectionId}::uuid`;
  return new Map(rows.map((row) => [row.hash, row]));
}

function outcomeOf(jobId: string, { document, metadata }: Prepared, known: Known | undefined): Uploaded {
  const { row, chunks } = document;
  const same =
    known !== undefined &&
    known.contentHash === row.content_hash &&
    known.title === row.title &&
    Object.entries(metadata).every(([name, value]) => JSON.stringify(known.metadata[name]) === JSON.stringify(value));
  return {
    document_id: same ? known.id : row.id,
    url: row.url,
    title: row.title,
    language: row.language,
    chunks: chunks.length,
    outcome: same ? "unchanged" : known === undefined ? "created" : "updated",
    job_id: same ? null : jobId,
  };
}

/** @returns ids of those that have a tag more than before */
async function tagThem(
  tx: Transaction,
  group: readonly Prepared[],
  outcomes: readonly Uploaded[],
  ...of: Uploaded["outcome"][]
): Promise<string[]> {
  const rows = group.flatMap(({ tags }, at) => {
    const { outcome, document_id } = outcomes[at] as Uploaded;
    return of.includes(outcome) ? tags.map((tag) => ({ document_id, tag })) : [];
  });
  if (rows.length === 0) return [];
  const tagged = await tx<{ id: string }[]>`
    insert into document_tags (document_id, tag_id)
    select distinct r.document_id, t.id
    from unnest(${rows.map(({ document_id }) => document_id)}::uuid[], ${rows.map(({ tag }) => tag)}::text[]) r (document_id, tag)
      join tags t on t.name = r.tag
    order by 1, 2 on conflict do nothing returning document_id as id`;
  return [...new Set(tagged.map(({ id }) => id))];
}

async function insertUploadJob(
  tx: Transaction,
  jobId: string,
  fresh: readonly Prepared[],
  { apiKeyId, collectionId, config }: StoreSettings,
): Promise<JobRow> {
  const settings = jobSettingsSchema.parse({
    seeds: fresh.map(({ document }) => document.row.url),
    scope: ANYWHERE,
    max_depth: 0,
    max_pages: fresh.length,
    replaces: "pages",
    // whoever sends a document wants it shown, also where somebody deletes the one before at this moment
    restore_deleted: true,
    config,
    tags: [],
  });
  await tx`
    insert into jobs (id, kind, priority, api_key_id, collection_id, generation_id, settings)
    values (${jobId}, 'import', 'high', ${apiKeyId}, ${collectionId}, ${uuidv7()},
      ${JSON.stringify(settings)}::text::jsonb)`;
  return (await lockJob(tx, jobId)) as JobRow;
}

/**
 * Uploads go the way of a page: the same extraction, chunks and tables. All of one request are a job, whose generation
 * is visible at once; the vectors follow.
 */
<<<<<<< HEAD
=======
import { outOfReach } from "../access/authorize.ts";
import type { JobRow } from "../crawl/jobs/lifecycle.ts";
import { addCounts, lockJob, settleJob } from "../crawl/jobs/lifecycle.ts";
>>>>>>> 40334337 (Keys limited to collections reach the documents of these, and nothing else by any route)
import { type CrawlConfig, crawlConfigSchema } from "../crawl/settings/crawl-config.ts";
import { normalizeUrl, urlHash } from "../crawl/urls/normalize-url.ts";
import type { Extraction } from "../extract/extraction.ts";
import { chunkLimits, documentOf, type NewDocument } from "../knowledge/documents/documents.ts";
import { whyNotIndexed } from "../knowledge/documents/not-indexed.ts";
import { sendEmbedTasks } from "../knowledge/embedding/embed-task.ts";
import { ApiError } from "../platform/errors.ts";
import { sha256 } from "../platform/ids.ts";
import type { LibraryDependencies } from "./change-documents.ts";
import { type CollectionLimit, isWithin } from "./collection-limit.ts";
import { readUpload, type UploadedText } from "./read-upload.ts";
import { type Prepared, type StoreSettings, storeDocuments, type Uploaded } from "./store-documents.ts";

export interface Upload extends Omit<UploadedText, "content"> {
  /** A text, the bytes of a file, or what reads them when their turn comes. */
  content: UploadedText["content"] | (() => Promise<Uint8Array>);
  /** Absolute; left out: one that the content makes, so that the same content is one document. */
  url?: string | undefined;
  collectionId: string | null;
  /** Lower case. */
  tags: readonly string[];
  /** Beside what the content itself says. */
  metadata: Record<string, unknown>;
  /** ISO 639-1 codes; other languages are refused unless `language` names them. */
  languages: readonly string[];
}

export type UploadOutcome = Uploaded | { error: ApiError };

/** For all files of a request: the API answers within 29 s. */
const READING_MS = 18_000;
/** Half of what the function has. */
const FILE_MEMORY_MB = 384;

/**
 * Stores documents; one that cannot be read or stored fails alone.
 * @param maxTokens what the embedder reads; null where there is none
 * @returns what became of each, in their order
 */
export async function uploadDocuments(
  dependencies: Pick<LibraryDependencies, "sql" | "queues" | "log" | "flags" | "limit">,
  uploads: readonly Upload[],
  apiKeyId: string | null,
  maxTokens: number | null,
): Promise<UploadOutcome[]> {
  const config = crawlConfigSchema.parse({});
  const outcomes: UploadOutcome[] = [];
  const readBy = performance.now() + READING_MS;
  const prepared: (Prepared | undefined)[] = [];
  for (const [at, upload] of uploads.entries()) {
    // one after the other: each file may take all the memory that there is for files
    prepared[at] = await prepareWithin(dependencies.limit, upload, { config, maxTokens, readBy }).catch(
      (error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
        outcomes[at] = { error };
        return undefined;
      },
    );
  }
  const groups = Map.groupBy(
    prepared.flatMap((each, at) => (each === undefined ? [] : [{ ...each, at }])),
    ({ at }) => uploads[at]?.collectionId ?? null,
  );
  await dependencies.flags.markActive();
  for (const [collectionId, group] of groups) {
    const settings = { collectionId, apiKeyId, config, source: "upload" as const, wantsVectors: maxTokens !== null };
    const stored = await storeGroup(dependencies, group, settings).catch((error: unknown) => {
      if (error instanceof ApiError) return group.map(() => ({ error }));
      throw error;
    });
    for (const [nth, { at }] of group.entries()) outcomes[at] = stored[nth] as UploadOutcome;
  }
  return outcomes;
}

async function storeGroup(
  dependencies: Pick<LibraryDependencies, "sql" | "queues" | "log">,
  group: readonly Prepared[],
  settings: StoreSettings,
): Promise<Uploaded[]> {
  const { outcomes, jobId, chunkIds } = await storeDocuments(dependencies, group, settings);
  if (chunkIds.length > 0 && settings.wantsVectors) {
    await sendEmbedTasks(dependencies, { jobId, priority: "high" }, chunkIds);
  }
  return outcomes;
}

interface Reading {
  config: CrawlConfig;
  maxTokens: number | null;
  /** By the clock of `performance`. */
  readBy: number;
}

/** Who is limited stores in its collections alone, and reads no file that was announced by others. */
async function prepareWithin(limit: CollectionLimit, upload: Upload, reading: Reading): Promise<Prepared> {
  const { collectionId, content } = upload;
  if (limit !== null && collectionId === null) {
    const message = "collection_id: this API key is limited to collections: name the one that takes the document";
    throw new ApiError(400, message, { code: "VALIDATION_ERROR" });
  }
  if (collectionId !== null && !isWithin(collectionId, limit)) throw noCollection(collectionId);
  if (limit !== null && typeof content === "function") throw outOfReach();
  return await prepare(upload, reading);
}

const noCollection = (id: string) =>
  new ApiError(404, `There is no collection ${id} (collection_id)`, { code: "NOT_FOUND" });

async function prepare(upload: Upload, { config, maxTokens, readBy }: Reading): Promise<Prepared> {
  const content = typeof upload.content === "function" ? await upload.content() : upload.content;
  const url = addressOf(upload, content);
  const timeoutMs = Math.max(1, Math.floor(readBy - performance.now()));
  const extraction = await readUpload({ ...upload, content }, url, { timeoutMs, memoryMb: FILE_MEMORY_MB });
  if (upload.language === undefined && whyNotIndexed(extraction, upload.languages) === "language") {
    const { language } = extraction;
    throw new ApiError(
      422,
      `The content is in the language "${language}", and only ${upload.languages.join(", ")} is wanted: ` +
        'name it in "languages", or as the document\'s "language"',
      { code: "LANGUAGE_NOT_WANTED", details: { language } },
    );
  }
  const { tags, metadata } = upload;
  return { tags, metadata, document: describe(upload, url, extraction, config, maxTokens) };
}

function addressOf({ url, filename }: Upload, content: UploadedText["content"]): string {
  if (url !== undefined) return documentUrl(url);
  const hash = sha256(content).toString("hex").slice(0, 32);
  return filename === undefined ? `upload://${hash}/` : `upload://${hash}/${encodeURIComponent(filename)}`;
}

/**
 * As documents have it: normalised where it is one of the web.
 * @throws ApiError 400 URL_INVALID
 */
export function documentUrl(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null || parsed.username !== "" || parsed.password !== "") {
    throw new ApiError(400, "url: not an absolute URL without credentials", { code: "URL_INVALID" });
  }
  return /^https?:$/.test(parsed.protocol) ? normalizeUrl(url) : parsed.href;
}

function describe(
  { metadata }: Upload,
  url: string,
  extraction: Extraction,
  config: CrawlConfig,
  maxTokens: number | null,
): NewDocument {
  const page = {
    capture: { extraction, fetchedAt: new Date().toISOString() },
    captureId: null,
    url,
    urlHash: urlHash(url),
    parentUrl: null,
  };
  const document = documentOf(page, chunkLimits(config, maxTokens));
  return { ...document, row: { ...document.row, metadata: { ...document.row.metadata, ...metadata } } };
}
<<<<<<< HEAD
=======

interface Settings {
  apiKeyId: string | null;
  config: CrawlConfig;
  maxTokens: number | null;
}

async function storeGroup(
  dependencies: Pick<LibraryDependencies, "sql" | "queues" | "log">,
  collectionId: string | null,
  group: readonly Prepared[],
  settings: Settings,
): Promise<UploadOutcome[]> {
  const { sql, log } = dependencies;
  const jobId = uuidv7();
  const { outcomes, chunkIds } = await inTransaction(sql, async (tx) => {
    const known = await knownDocuments(tx, collectionId, group);
    await ensureTags(
      tx,
      group.flatMap(({ upload }) => upload.tags),
    );
    const outcomes = group.map(({ upload, document }) =>
      outcomeOf(jobId, upload, document, known.get(document.row.hash)),
    );
    const last = new Map(group.map(({ document }, at) => [document.row.hash, at]));
    const fresh = group.filter(
      ({ document }, at) => last.get(document.row.hash) === at && outcomes[at]?.outcome !== "unchanged",
    );
    for (const [at, { document }] of group.entries()) {
      const stays = last.get(document.row.hash) ?? at;
      if (stays !== at) outcomes[at] = outcomes[stays] as Uploaded;
    }
    await tagThem(tx, group, outcomes, "unchanged");
    if (fresh.length === 0) return { outcomes, chunkIds: [] };
    const job = await insertUploadJob(tx, jobId, collectionId, fresh, settings);
    const target = {
      jobId,
      generationId: job.generationId,
      collectionId,
      tags: [],
      wantsVectors: settings.maxTokens !== null,
      source: "upload" as const,
    };
    const { documents, chunkIds } = await insertDocuments(
      tx,
      target,
      fresh.map(({ document }) => document),
    );
    await tagThem(tx, group, outcomes, "created", "updated");
    await tx`
      delete from removed_urls r using documents d
      where d.generation_id = ${job.generationId} and r.url_hash = d.url_hash
        and r.collection_id = coalesce(d.collection_id, '00000000-0000-0000-0000-000000000000')`;
    const unembedded = settings.maxTokens === null ? 0 : chunkIds.length;
    await addCounts(tx, job, {
      discovered: documents,
      crawled: documents,
      documents,
      chunks: chunkIds.length,
      unembedded,
    });
    // visible for keywords at once
    if ((await settleJob(tx, jobId, log)) === "embedding") await settleJob(tx, jobId, log, { withoutVectors: true });
    return { outcomes, chunkIds };
  });
  if (chunkIds.length > 0 && settings.maxTokens !== null) {
    await sendEmbedTasks(dependencies, { jobId, priority: "high" }, chunkIds);
  }
  return outcomes;
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
    if (found === undefined) throw noCollection(collectionId);
  }
  const rows = await tx<Known[]>`
    select id, encode(url_hash, 'hex') as hash, encode(content_hash, 'hex') as "contentHash", title, metadata
    from documents_active
    where url_hash in (select decode(h, 'hex') from unnest(${group.map(({ document }) => document.row.hash)}::text[]) h)
      and collection_id is not distinct from ${collectionId}::uuid`;
  return new Map(rows.map((row) => [row.hash, row]));
}

function outcomeOf(jobId: string, upload: Upload, { row, chunks }: NewDocument, known: Known | undefined): Uploaded {
  const same =
    known !== undefined &&
    known.contentHash === row.content_hash &&
    known.title === row.title &&
    Object.entries(upload.metadata).every(
      ([name, value]) => JSON.stringify(known.metadata[name]) === JSON.stringify(value),
    );
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

async function tagThem(
  tx: Transaction,
  group: readonly Prepared[],
  outcomes: readonly Uploaded[],
  ...of: Uploaded["outcome"][]
): Promise<void> {
  const rows = group.flatMap(({ upload }, at) => {
    const { outcome, document_id } = outcomes[at] as Uploaded;
    return of.includes(outcome) ? upload.tags.map((tag) => ({ document_id, tag })) : [];
  });
  if (rows.length === 0) return;
  await tx`
    insert into document_tags (document_id, tag_id)
    select distinct r.document_id, t.id
    from unnest(${rows.map(({ document_id }) => document_id)}::uuid[], ${rows.map(({ tag }) => tag)}::text[]) r (document_id, tag)
      join tags t on t.name = r.tag
    order by 1, 2 on conflict do nothing`;
}

async function insertUploadJob(
  tx: Transaction,
  jobId: string,
  collectionId: string | null,
  fresh: readonly Prepared[],
  { apiKeyId, config }: Settings,
): Promise<JobRow> {
  const settings = jobSettingsSchema.parse({
    seeds: fresh.map(({ document }) => document.row.url),
    scope: ANYWHERE,
    max_depth: 0,
    max_pages: fresh.length,
    replaces: "pages",
    config,
    tags: [],
  });
  await tx`
    insert into jobs (id, kind, priority, api_key_id, collection_id, generation_id, settings)
    values (${jobId}, 'import', 'high', ${apiKeyId}, ${collectionId}, ${uuidv7()},
      ${JSON.stringify(settings)}::text::jsonb)`;
  return (await lockJob(tx, jobId)) as JobRow;
}
>>>>>>> 40334337 (Keys limited to collections reach the documents of these, and nothing else by any route)

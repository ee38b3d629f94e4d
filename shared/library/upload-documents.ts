/**
 * Uploads go the way of a page: the same extraction, chunks and tables. All of one request are a job, whose generation
 * is visible at once; the vectors follow.
 */
import { outOfReach } from "../access/authorize.ts";
import { type CollectionDefaults, withCollectionDefaults } from "../crawl/settings/collection-defaults.ts";
import { type CrawlConfig, completeConfig } from "../crawl/settings/crawl-config.ts";
import { normalizeUrl, urlHash } from "../crawl/urls/normalize-url.ts";
import type { Extraction } from "../extract/extraction.ts";
import { chunkLimits, documentOf, type NewDocument } from "../knowledge/documents/documents.ts";
import { whyNotIndexed } from "../knowledge/documents/not-indexed.ts";
import { sendEmbedTasks } from "../knowledge/embedding/embed-task.ts";
import { ApiError } from "../platform/errors.ts";
import { sha256 } from "../platform/ids.ts";
import { isTransientError } from "../platform/transient-errors.ts";
import { type LibraryDependencies, sendWaiting } from "./change-documents.ts";
import { type CollectionLimit, isWithin } from "./collection-limit.ts";
import { readDefaults } from "./collections.ts";
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
  /**
   * ISO 639-1 codes; other languages are refused unless `language` names them. Left out: those of the collection, or
   * else English.
   */
  languages?: readonly string[] | undefined;
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
  const collections = uploads.map(({ collectionId }) => collectionId);
  const known = await readDefaults(dependencies.sql, collections);
  const settings = new Map(collections.map((id) => [id, settingsOf(known.get(id))]));
  const outcomes: UploadOutcome[] = [];
  const readBy = performance.now() + READING_MS;
  const prepared: (Prepared | undefined)[] = [];
  for (const [at, upload] of uploads.entries()) {
    // one after the other: each file may take all the memory that there is for files
    prepared[at] = await prepareWithin(dependencies.limit, upload, {
      ...(settings.get(upload.collectionId) as CollectionSettings),
      ...{ maxTokens, readBy },
    }).catch((error: unknown) => {
      outcomes[at] = { error: failure(dependencies, error) };
      return undefined;
    });
  }
  const groups = Map.groupBy(
    prepared.flatMap((each, at) => (each === undefined ? [] : [{ ...each, at }])),
    ({ at }) => uploads[at]?.collectionId ?? null,
  );
  await dependencies.flags.markActive();
  for (const [collectionId, group] of groups) {
    const { config } = settings.get(collectionId) as CollectionSettings;
    const asked = { collectionId, apiKeyId, config, source: "upload" as const, wantsVectors: maxTokens !== null };
    const stored = await storeEach(dependencies, group, asked);
    for (const [nth, { at }] of group.entries()) outcomes[at] = stored[nth] as UploadOutcome;
  }
  return outcomes;
}

interface CollectionSettings {
  config: CrawlConfig;
  /** Of what has no language that can be told; undefined: none. */
  assumedLanguage: string | undefined;
}

const settingsOf = (defaults: CollectionDefaults = {}): CollectionSettings => ({
  config: completeConfig(withCollectionDefaults({}, defaults)),
  assumedLanguage: defaults.language,
});

/** Without the others, or without this one, there may be no such error. */
const OF_ONE_ALONE: readonly string[] = ["INTERNAL_ERROR", "STORAGE_QUOTA_EXCEEDED"];

/** All at once; where the database or a quota refuses one of them, each by itself, so that it fails alone. */
async function storeEach(
  dependencies: Pick<LibraryDependencies, "sql" | "queues" | "log">,
  group: readonly Prepared[],
  settings: StoreSettings,
): Promise<UploadOutcome[]> {
  try {
    return await storeGroup(dependencies, group, settings);
  } catch (cause) {
    const error = failure(dependencies, cause);
    if (group.length === 1 || !OF_ONE_ALONE.includes(error.code)) return group.map(() => ({ error }));
  }
  const outcomes: UploadOutcome[] = [];
  for (const each of group) outcomes.push(...(await storeEach(dependencies, [each], settings)));
  return outcomes;
}

/** What the item says that failed: others of its batch may be stored already. */
function failure({ log }: Pick<LibraryDependencies, "log">, cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  log.error("a document of a request was not stored", { error: cause });
  if (isTransientError(cause)) {
    const message = "A service behind this one does not answer at the moment: send the document again";
    return new ApiError(503, message, { code: "SERVICE_UNAVAILABLE", cause, headers: { "retry-after": "2" } });
  }
  const message = "Something failed on our side: the log has the details under the request id";
  return new ApiError(500, message, { code: "INTERNAL_ERROR", cause });
}

async function storeGroup(
  dependencies: Pick<LibraryDependencies, "sql" | "queues" | "log">,
  group: readonly Prepared[],
  settings: StoreSettings,
): Promise<Uploaded[]> {
  const { outcomes, jobId, chunkIds, waiting } = await storeDocuments(dependencies, group, settings);
  await sendWaiting(dependencies, waiting);
  if (chunkIds.length > 0 && settings.wantsVectors) {
    await sendEmbedTasks(dependencies, { jobId, priority: "high" }, chunkIds);
  }
  return outcomes;
}

interface Reading extends CollectionSettings {
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
  if (collectionId !== null && !isWithin(collectionId, limit)) {
    throw new ApiError(404, `There is no collection ${collectionId} (collection_id)`, { code: "NOT_FOUND" });
  }
  if (limit !== null && typeof content === "function") throw outOfReach();
  return await prepare(upload, reading);
}

async function prepare(upload: Upload, reading: Reading): Promise<Prepared> {
  const { config, readBy } = reading;
  const languages = upload.languages ?? config.languages;
  const content = typeof upload.content === "function" ? await upload.content() : upload.content;
  const url = addressOf(upload, content);
  const timeoutMs = Math.max(1, Math.floor(readBy - performance.now()));
  const extraction = await readUpload({ ...upload, content }, url, { timeoutMs, memoryMb: FILE_MEMORY_MB });
  if (upload.language === undefined && whyNotIndexed(extraction, languages) === "language") {
    const { language } = extraction;
    throw new ApiError(
      422,
      `The content is in the language "${language}", and only ${languages.join(", ")} is wanted: ` +
        'name it in "languages", or as the document\'s "language"',
      { code: "LANGUAGE_NOT_WANTED", details: { language } },
    );
  }
  const { tags, metadata } = upload;
  return { tags, metadata, document: describe(upload, url, extraction, reading) };
}

function addressOf({ url, filename }: Upload, content: UploadedText["content"]): string {
  if (url !== undefined) return documentUrl(url);
  const hash = sha256(content).toString("hex").slice(0, 32);
  return filename === undefined ? `upload://${hash}/` : `upload://${hash}/${encodeURIComponent(filename)}`;
}

/** What a browser would run where somebody shows the URL as a link. */
const RUNS_IN_A_BROWSER = /^(javascript|vbscript|data|blob):$/;

/**
 * As documents have it: normalised where it is one of the web.
 * @throws ApiError 400 URL_INVALID
 */
export function documentUrl(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null || parsed.username !== "" || parsed.password !== "") {
    throw new ApiError(400, "url: not an absolute URL without credentials", { code: "URL_INVALID" });
  }
  if (RUNS_IN_A_BROWSER.test(parsed.protocol)) {
    const message = `url: one that begins with ${parsed.protocol} is not taken: a reader's browser would run it`;
    throw new ApiError(400, message, { code: "URL_INVALID" });
  }
  return /^https?:$/.test(parsed.protocol) ? normalizeUrl(url) : parsed.href;
}

function describe(
  { metadata }: Upload,
  url: string,
  extraction: Extraction,
  { config, maxTokens, assumedLanguage }: Reading,
): NewDocument {
  const page = {
    capture: { extraction, fetchedAt: new Date().toISOString() },
    captureId: null,
    url,
    urlHash: urlHash(url),
    parentUrl: null,
    assumedLanguage,
  };
  const document = documentOf(page, chunkLimits(config, maxTokens));
  return { ...document, row: { ...document.row, metadata: { ...document.row.metadata, ...metadata } } };
}

/**
 * What was extracted from the pages of a job. The capture batches hold it for thirty days, the documents of the job's
 * generation while that is the active one, and the archive for good: there it is extracted once more.
 */
import { z } from "zod";
import type { Capture } from "../../capture/capture.ts";
import { readCaptureBatch } from "../../capture/capture-batch.ts";
import { type ContentSelection, MAIN_CONTENT } from "../../extract/content/selection.ts";
import type { Extraction } from "../../extract/extraction.ts";
import { atOnce } from "../../platform/at-once.ts";
import type { ObjectStore } from "../../platform/aws/objects.ts";
import { RetryableError } from "../../platform/errors.ts";
import { type PageContent, readPageContent } from "../http/read-page.ts";
import { type ArchiveReader, isMissingFromArchive, readResponseRecord } from "./archived-content.ts";
import type { ResultCapture, ResultJob, ResultRow } from "./rows.ts";

export interface PageText {
  title: string | null;
  text: string;
  markdown: string;
  /** Absolute, in document order. */
  links: readonly string[];
  /** ISO 639-1; "und" where neither the page says nor its text tells. */
  language: string;
  metadata: Extraction["metadata"];
}

/** By result cursor: the text; what is wrong with it; nothing for what is no page. */
export type PageTexts = ReadonlyMap<number, PageText | { problem: string }>;

export interface TextReader {
  /** Each batch is read once, a few at a time. */
  read(rows: readonly ResultRow[]): Promise<PageTexts>;
}

/** Batches that are read at once, each up to some 5 million characters. */
const BATCHES_AT_ONCE = 3;
/** Of a page that is extracted once more, content coding undone. */
const MAX_PAGE_BYTES = 50 * 1024 * 1024;

export function createTextReader(
  reader: ArchiveReader,
  { generationId, selection = MAIN_CONTENT }: ResultJob,
): TextReader {
  const batches = createBatchReader(reader.objects);
  return {
    async read(rows) {
      const texts = new Map<number, PageText | { problem: string }>();
      const missing = (among: readonly ResultRow[]) => among.filter(({ cursor }) => !texts.has(cursor));
      const pages = rows.filter(({ state, captures }) => state === "crawled" && captures.length > 0);
      await fromBatches(batches, pages, (row) => row.captures[0], texts);
      await fromDocuments(reader, generationId, missing(pages), texts);
      await fromBatches(batches, missing(pages), originalOf, texts);
      // seldom, and each as large as its page
      for (const row of missing(pages)) texts.set(row.cursor, await extractedAgain(reader, row, selection));
      return texts;
    },
  };
}

/** The capture that holds the response, where its text is what the job selects. */
function originalOf({ captures }: ResultRow): ResultCapture | undefined {
  const original = captures.slice(1).at(-1);
  return original?.sameSelection ? original : undefined;
}

type Found = Map<number, PageText | { problem: string }>;

async function fromBatches(
  batches: BatchReader,
  rows: readonly ResultRow[],
  captureOf: (row: ResultRow) => ResultCapture | undefined,
  found: Found,
): Promise<void> {
  const placed = rows.flatMap((row) => {
    const capture = captureOf(row);
    return capture === undefined || capture.notModified ? [] : [{ row, capture }];
  });
  const byBatch = [...Map.groupBy(placed, ({ capture }) => capture.batchKey)];
  await atOnce(BATCHES_AT_ONCE, byBatch, async ([key, wanted]) => {
    const captures = await batches.read(key);
    for (const { row, capture } of wanted) {
      const extraction = captures?.[capture.batchIndex]?.extraction;
      if (extraction) found.set(row.cursor, textOf(extraction));
    }
  });
}

export function textOf({ title, text, markdown, links, language, metadata }: Extraction): PageText {
  return { title, text, markdown, links, language, metadata };
}

const documentMetadata = z.object({
  author: z.string().nullish().default(null),
  description: z.string().nullish().default(null),
  keywords: z.array(z.string()).nullish().default([]),
  og_image: z.string().nullish().default(null),
  publish_date: z.string().nullish().default(null),
});

async function fromDocuments(
  { sql }: ArchiveReader,
  generationId: string,
  rows: readonly ResultRow[],
  found: Found,
): Promise<void> {
  if (rows.length === 0) return;
  const hashes = rows.map(({ captures }) => captures[0]?.finalUrlHash ?? "");
  const documents = await sql<(Omit<PageText, "metadata"> & { hash: string; metadata: unknown })[]>`
    select encode(d.url_hash, 'hex') as hash, left(d.title, 1000) as title, d.content as text, d.markdown, d.links,
      d.language, d.metadata
    from unnest(${hashes}::text[]) h join documents d on d.url_hash = decode(h, 'hex')
    where d.generation_id = ${generationId}`;
  const byHash = new Map(documents.map((document) => [document.hash, document]));
  for (const { cursor, captures } of rows) {
    const document = byHash.get(captures[0]?.finalUrlHash ?? "");
    if (document === undefined) continue;
    const { author, description, keywords, og_image, publish_date } = documentMetadata.parse(document.metadata);
    const metadata = {
      author: author ?? null,
      description: description ?? null,
      keywords: keywords ?? [],
      ogImage: og_image ?? null,
      publishDate: publish_date ?? null,
    };
    found.set(cursor, { ...document, metadata });
  }
}

async function extractedAgain(
  reader: ArchiveReader,
  { captures }: ResultRow,
  selection: ContentSelection,
): Promise<PageText | { problem: string }> {
  try {
    const content = await readArchivedPage(reader, captures, selection);
    if (content === undefined) return { problem: "The archive holds no answer of the page" };
    const { extraction, error } = content;
    if (extraction !== null) return textOf(extraction);
    return { problem: error?.message ?? "The page holds no text" };
  } catch (error) {
    if (isMissingFromArchive(error)) return { problem: error.message };
    throw error;
  }
}

/**
 * The response as fetch reads it.
 * @returns undefined where no answer ever came
 * @throws PermanentError where the archive does not hold it
 */
export async function readArchivedPage(
  reader: ArchiveReader,
  captures: readonly ResultCapture[],
  selection: ContentSelection = MAIN_CONTENT,
): Promise<PageContent | undefined> {
  const record = await readResponseRecord(reader, captures);
  if (record === undefined) return undefined;
  const { httpHeaders: headers, body, cut, startLine } = record;
  const status = Number(/^HTTP\/\S+ (\d{3})/.exec(startLine)?.[1] ?? 200);
  const response = { status, startLine, headers, body, truncated: cut ? ("length" as const) : null };
  return await readPageContent(response, captures[0]?.finalUrl ?? "", MAX_PAGE_BYTES, { selection });
}

interface BatchReader {
  /** undefined where the batch is gone. */
  read(key: string): Promise<readonly Capture[] | undefined>;
}

/** Keeps the batch that was read last: slices of results seldom end where batches do. */
function createBatchReader(objects: ObjectStore): BatchReader {
  let last: { key: string; captures: readonly Capture[] } | undefined;
  return {
    async read(key) {
      if (last?.key === key) return last.captures;
      try {
        const captures = await readCaptureBatch(objects, key);
        last = { key, captures };
        return captures;
      } catch (error) {
        const isGone = error instanceof RetryableError && error.code === "BATCH_MISSING";
        if (isGone || isMissingFromArchive(error)) return undefined;
        throw error;
      }
    },
  };
}

/** Documents as the API takes and shows them. */
import { z } from "zod";
import type { Changed } from "../../shared/library/change-documents.ts";
import { UPLOAD_TYPES } from "../../shared/library/read-upload.ts";
import type { ListedDocument, StoredChunk, StoredDocument } from "../../shared/library/stored-documents.ts";
import type { UploadOutcome } from "../../shared/library/upload-documents.ts";
import { orNull, orNullAs } from "../adapters/api/or-null.ts";

export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), next_cursor: z.string().nullable(), has_more: z.boolean() });

/** Of a query. */
export const flag = z
  .enum(["true", "false"])
  .default("false")
  .transform((text) => text === "true");

export const tagName = z.string().trim().toLowerCase().min(1).max(100);
/** What is no UUID fails alone: see `changeEach`. */
export const documentIds = z
  .array(z.string().max(200))
  .min(1)
  .max(1_000)
  .describe("UUIDs of documents; whatever else fails alone, with VALIDATION_ERROR");

/** What became of each document that was named. */
export const changedSchema = z.object({
  changed: z.array(z.uuid()),
  failed: z.array(
    z.object({
      /** As it was sent. */
      document_id: z.string(),
      code: z.enum(["NOT_FOUND", "CONFLICT", "VALIDATION_ERROR"]),
      error: z.string(),
    }),
  ),
});

/** Changes the documents whose ids are some, and tells of the others that they are none. */
export async function changeEach(
  ids: readonly string[],
  change: (ids: string[]) => Promise<Changed>,
): Promise<z.output<typeof changedSchema>> {
  const [valid, invalid] = [new Set<string>(), new Set<string>()];
  for (const id of ids) {
    const parsed = z.uuid().safeParse(id);
    if (parsed.success) valid.add(parsed.data.toLowerCase());
    else invalid.add(id);
  }
  const { changed, failed } = valid.size === 0 ? { changed: [], failed: [] } : await change([...valid]);
  const error = "This is no id of a document: ids are UUIDs";
  const refused = [...invalid].map((document_id) => ({ document_id, code: "VALIDATION_ERROR" as const, error }));
  return { changed, failed: [...failed, ...refused] };
}

export const listedSchema = z.object({
  id: z.uuid(),
  url: z.string(),
  domain: z.string(),
  title: z.string().nullable(),
  language: z.string(),
  source: z.enum(["crawl", "upload", "api"]),
  collection_id: z.uuid().nullable(),
  tags: z.array(z.object({ id: z.uuid(), name: z.string() })),
  metadata: z.record(z.string(), z.unknown()),
  /** Hex SHA-256 of the text. */
  content_hash: z.string(),
  job_id: z.uuid().nullable(),
  /** Of the snapshot that it was made of: see /api/snapshot/{id}. */
  capture_id: z.int().nullable(),
  parent_url: z.string().nullable(),
  crawled_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  deleted_at: z.iso.datetime().nullable(),
});

export function listedJson(document: ListedDocument): z.output<typeof listedSchema> {
  const { id, url, domain, title, language, source, collection_id, tags, metadata, content_hash, job_id } = document;
  const { capture_id, parent_url, crawled_at, updated_at, deleted_at } = document;
  return {
    ...{ id, url, domain, title, language, source, collection_id, tags, metadata, content_hash, job_id },
    capture_id: capture_id === null ? null : Number(capture_id),
    parent_url,
    crawled_at: crawled_at.toISOString(),
    updated_at: updated_at.toISOString(),
    deleted_at: deleted_at?.toISOString() ?? null,
  };
}

export const chunkSchema = z.object({
  id: z.uuid(),
  chunk_index: z.int(),
  content: z.string(),
  /** Of the document's text, in UTF-16 code units. */
  start_char: z.int(),
  end_char: z.int(),
  token_count: z.int(),
  section_header: z.string().nullable(),
  /** Its section's position, from 0. */
  section: z.int().nullable(),
  content_type: z.string(),
  /** null: it has no vector. */
  embedding_model: z.string().nullable(),
});
export const chunkJson = (chunk: StoredChunk): z.output<typeof chunkSchema> => chunk;

/** Characters of a text that one answer holds; the chunks have all of it. */
export const MOST_CHARACTERS = 500_000;
/** Chunks that are shown with their document. */
export const SHOWN_CHUNKS = 50;

export const documentSchema = listedSchema.extend({
  content: z.string(),
  markdown: z.string(),
  /** Whether `content` or `markdown` is longer than what is shown: the chunks have all of it. */
  is_cut: z.boolean(),
  sections: z.int(),
  chunk_count: z.int(),
  /** The first ones; all of them: /api/v1/documents/{id}/chunks. */
  chunks: z.array(chunkSchema),
});

export function documentJson(document: StoredDocument, chunks: StoredChunk[]): z.output<typeof documentSchema> {
  const { content, markdown, sections } = document;
  return {
    ...listedJson(document),
    content: content.slice(0, MOST_CHARACTERS).toWellFormed(),
    markdown: markdown.slice(0, MOST_CHARACTERS).toWellFormed(),
    is_cut: Math.max(content.length, markdown.length) > MOST_CHARACTERS,
    sections: sections.length,
    chunk_count: document.chunks,
    chunks: chunks.map(chunkJson),
  };
}

const METADATA_BYTES = 20_000;

const uploadFields = z.strictObject({
  /** Absolute; left out: one that the content makes, so that the same content is one document. */
  url: orNull(z.string().min(1).max(8_000)),
  title: orNull(z.string().trim().min(1).max(1_000)),
  /** A text; or else `content_base64`, or `upload_id`. */
  content: orNull(z.string().min(1)),
  /** A file: PDF, DOCX, or a text in UTF-8. */
  content_base64: orNull(
    z
      .string()
      .min(1)
      .regex(/^[A-Za-z0-9+/]+={0,2}$/, "no base64 of RFC 4648, section 4"),
  ),
  /** A file that was PUT where POST /api/v1/documents/uploads said. */
  upload_id: orNull(z.uuid()),
  /** Left out: told by the content. */
  content_type: orNull(z.string().max(200)).describe(`One of ${UPLOAD_TYPES.join(", ")}; parameters are ignored`),
  filename: orNull(z.string().min(1).max(255)),
  /** ISO 639-1, for a text that is told wrongly. */
  language: orNull(z.string().regex(/^[a-z]{2}$/, "an ISO 639-1 code, such as en")),
  /** Languages that are taken; "*": any. Left out: those of the collection, or else English. */
  languages: orNull(
    z
      .array(z.string().regex(/^(?:[a-z]{2}|\*)$/))
      .min(1)
      .max(50),
  ),
  collection_id: orNull(z.uuid()),
  tags: orNullAs(z.array(tagName).max(50), []),
  metadata: orNullAs(
    z
      .record(z.string().max(200), z.unknown())
      .refine(
        (value) => Buffer.byteLength(JSON.stringify(value)) <= METADATA_BYTES,
        `more than ${METADATA_BYTES} bytes as JSON`,
      ),
    {},
  ),
});
export const uploadSchema = uploadFields.refine(
  ({ content, content_base64, upload_id }) =>
    [content, content_base64, upload_id].filter((each) => each !== undefined).length === 1,
  "one of content, content_base64 and upload_id is needed, and no more",
);
export type UploadBody = z.output<typeof uploadSchema>;

export const announcedSchema = z.object({
  upload_id: z.uuid(),
  upload_url: z.string(),
  method: z.literal("PUT"),
  /** To be sent with the file. */
  headers: z.record(z.string(), z.string()),
  /** Until when the upload may begin. */
  expires_at: z.iso.datetime(),
});

export const uploadedSchema = z.object({
  document_id: z.uuid(),
  url: z.string(),
  title: z.string().nullable(),
  language: z.string(),
  chunks: z.int(),
  /** `unchanged`: the document that is there says the same; `updated`: it was replaced. */
  outcome: z.enum(["created", "updated", "unchanged"]),
  /** Which gives the chunks their vectors; null where nothing changed. */
  job_id: z.uuid().nullable(),
});

export const batchSchema = z.object({
  /** In the order of the request. */
  items: z.array(
    z.union([
      uploadedSchema,
      z.object({
        outcome: z.literal("failed"),
        status: z.int(),
        code: z.string(),
        error: z.string(),
        details: z.record(z.string(), z.unknown()).optional(),
      }),
    ]),
  ),
  stored: z.int(),
  failed: z.int(),
});

export function batchJson(outcomes: readonly UploadOutcome[]): z.output<typeof batchSchema> {
  const items = outcomes.map((outcome) => {
    if (!("error" in outcome)) return outcome;
    const { status, code, message, details } = outcome.error;
    return { outcome: "failed" as const, status, code, error: message, ...(details && { details }) };
  });
  const failed = items.filter(({ outcome }) => outcome === "failed").length;
  return { items, stored: items.length - failed, failed };
}

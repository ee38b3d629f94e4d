/**
 * A document as a line of JSON, with all that searches know of it: text, sections, chunks, tags, collection, and the
 * vectors of its chunks, each as the base64 of its numbers (float32, little-endian).
 */
import { z } from "zod";
import { urlHash } from "../../crawl/urls/normalize-url.ts";
import { BOUNDS } from "../../extract/bounds.ts";
import { keywordText } from "../../knowledge/analysis/keyword-vectors.ts";
import { byteOffsets, type NewChunk } from "../../knowledge/documents/chunks.ts";
import type { NewDocument } from "../../knowledge/documents/documents.ts";
import { ApiError } from "../../platform/errors.ts";
import { sha256, uuidv7 } from "../../platform/ids.ts";
import { isStorable } from "../../platform/text.ts";
import { documentUrl } from "../upload-documents.ts";

/** Another one where a reader of this one would misread what is written. */
export const FORMAT = "strandline-document/1";
const ENCODING = "float32le-base64";

const METADATA_BYTES = 100_000;
/** In UTF-16 code units: what PostgreSQL's vector of words has room for. */
const LONGEST_CHUNK = 200_000;
const DEEPEST = 100;

const place = z.int().min(0);
const text = z.string().refine(isStorable, "holds NUL, or half of a surrogate pair");
const short = (most: number) => text.max(most);

const sectionSchema = z.object({
  heading: short(BOUNDS.heading).nullable(),
  level: z.int().min(0).max(6),
  start: place,
  end: place,
  /** Place of the section that it stands in, which comes before it. */
  parent: place.nullable(),
});

const chunkSchema = z.object({
  /** Of the document's text, in UTF-16 code units. */
  start: place,
  end: place,
  tokens: place.max(1_000_000),
  section: place.nullable(),
  section_header: short(BOUNDS.heading).nullable(),
  content_type: z.enum(["prose", "code", "table", "list"]),
});

const vectorsSchema = z.object({
  model: short(500).min(1),
  dimension: z.int().min(1).max(65_536),
  encoding: z.literal(ENCODING),
  /** In the order of the chunks; null: the model knows nothing of the text. */
  data: z.array(z.base64().nullable()).max(BOUNDS.chunks),
});

const LAST_YEAR = 9_999;
const moment = z.iso
  .datetime({ offset: true })
  .refine((value) => new Date(value).getUTCFullYear() >= 1 && new Date(value).getUTCFullYear() <= LAST_YEAR, "no date");

const lineSchema = z.object({
  format: z.literal(FORMAT),
  url: short(8_000).min(1),
  parent_url: short(8_000).nullable().default(null),
  title: short(1_000).nullable(),
  language: z.string().regex(/^[a-z]{2,3}$/, "must be a code of ISO 639, or und"),
  source: z.enum(["crawl", "upload", "api"]),
  crawled_at: moment,
  metadata: z
    .record(z.string(), z.unknown())
    .refine((value) => Buffer.byteLength(JSON.stringify(value)) <= METADATA_BYTES, `over ${METADATA_BYTES} bytes`),
  links: z.array(short(BOUNDS.url)).max(BOUNDS.links).default([]),
  tags: z.array(short(100).toLowerCase().min(1)).max(100).default([]),
  collection: z
    .object({ name: short(200).min(1), description: short(2_000).nullable().default(null) })
    .nullable()
    .default(null),
  content: text.min(1),
  markdown: text,
  sections: z.array(sectionSchema).max(BOUNDS.sections),
  chunks: z.array(chunkSchema).max(BOUNDS.chunks),
  vectors: vectorsSchema.nullable().default(null),
});

export type DocumentLine = z.output<typeof lineSchema>;
export type WrittenLine = z.input<typeof lineSchema>;
export type LineVectors = NonNullable<DocumentLine["vectors"]>;

/**
 * Reads a line that anybody may have written.
 * @throws ApiError 400 LINE_INVALID
 */
export function parseLine(line: string): DocumentLine {
  const parsed = lineSchema.safeParse(jsonOf(line));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(`${issue?.path.join(".") || "the line"}: ${issue?.message ?? "unknown"}`);
  }
  const document = parsed.data;
  checkSections(document);
  checkChunks(document);
  const { vectors, chunks } = document;
  if (vectors !== null && vectors.data.length !== chunks.length) {
    throw invalid(`vectors.data: ${vectors.data.length} for ${chunks.length} chunks`);
  }
  return document;
}

const invalid = (message: string, cause?: unknown): ApiError =>
  new ApiError(400, message, { code: "LINE_INVALID", cause });

function jsonOf(line: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw invalid("no JSON", cause);
  }
  // what PostgreSQL cannot hold may stand anywhere in the metadata
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) throw invalid(`nested over ${DEEPEST} deep`);
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? Object.values(each) : []));
  }
  if (!isStorable(keysAndTexts(value))) throw invalid("holds NUL, or half of a surrogate pair");
  return value;
}

/** Of what is not checked by its schema: names and values of the metadata. */
function keysAndTexts(value: unknown): string {
  const metadata = typeof value === "object" && value !== null && "metadata" in value ? value.metadata : null;
  const texts: string[] = [];
  const open: unknown[] = [metadata];
  for (let each = open.pop(); each !== undefined || open.length > 0; each = open.pop()) {
    if (typeof each === "string") texts.push(each);
    else if (typeof each === "object" && each !== null) {
      texts.push(...Object.keys(each));
      open.push(...Object.values(each));
    }
  }
  return texts.join(" ");
}

function checkSections({ content, sections }: DocumentLine): void {
  for (const [at, { start, end, parent }] of sections.entries()) {
    if (parent !== null && parent >= at) throw invalid(`sections.${at}.parent: ${parent} does not come before it`);
    checkRange(content, `sections.${at}`, start, end);
  }
}

function checkChunks({ content, chunks, sections }: DocumentLine): void {
  let before = -1;
  for (const [at, { start, end, section }] of chunks.entries()) {
    checkRange(content, `chunks.${at}`, start, end);
    if (start === end || start < before) throw invalid(`chunks.${at}: is empty, or begins before the one before it`);
    if (end - start > LONGEST_CHUNK) throw invalid(`chunks.${at}: is over ${LONGEST_CHUNK} characters long`);
    if (section !== null && section >= sections.length) throw invalid(`chunks.${at}.section: there is none ${section}`);
    before = start;
  }
}

function checkRange(content: string, name: string, start: number, end: number): void {
  const isInside = (at: number): boolean => /^[\ud800-\udbff][\udc00-\udfff]/.test(content.slice(at - 1, at + 1));
  if (start > end || end > content.length || isInside(start) || isInside(end)) {
    throw invalid(`${name}: ${start} to ${end} is no range of the content`);
  }
}

/**
 * @param id of the new document: they are listed in the order of their ids
 * @throws ApiError 400 URL_INVALID
 */
export function documentOfLine(line: DocumentLine, id: string): NewDocument {
  const { content, chunks, language, title } = line;
  const url = documentUrl(line.url);
  const offset = byteOffsets(
    content,
    chunks.flatMap(({ start, end }) => [start, end]),
  );
  return {
    row: {
      ...{ id, capture_id: null, url, hash: urlHash(url), domain: new URL(url).host, parent_url: line.parent_url },
      ...{ title, content, markdown: line.markdown, content_hash: sha256(content).toString("hex") },
      ...{
        sections: line.sections,
        blocks: null,
        language,
        is_language_assumed: false,
        metadata: line.metadata,
        links: line.links,
      },
      crawled_at: line.crawled_at,
    },
    chunks: chunks.map(({ start, end, tokens, section, section_header, content_type }, at): NewChunk => {
      const passage = content.slice(start, end);
      return {
        row: {
          ...{ id: uuidv7(), document_id: id, section, chunk_index: at, section_header, content_type },
          ...{ content_hash: sha256(passage).toString("hex"), first_byte: offset(start) },
          ...{ bytes: offset(end) - offset(start), start_char: start, end_char: end, token_count: tokens },
        },
        words: keywordText(title, section_header, passage),
        language,
      };
    }),
  };
}

/** @throws ApiError 400 LINE_INVALID where a vector is not of the length that is said */
export function decodeVectors({ data, dimension }: LineVectors): (Float32Array | null)[] {
  return data.map((encoded, at) => {
    if (encoded === null) return null;
    const { buffer, length } = Uint8Array.from(Buffer.from(encoded, "base64"));
    if (length !== 4 * dimension) throw invalid(`vectors.data.${at}: ${length} bytes, and not 4 × ${dimension}`);
    const vector = new Float32Array(buffer);
    if (!vector.every(Number.isFinite)) throw invalid(`vectors.data.${at}: holds what is no number`);
    return vector;
  });
}

export function encodeVectors(
  { model, dimension }: Pick<LineVectors, "model" | "dimension">,
  vectors: readonly (Float32Array | null)[],
): LineVectors {
  const data = vectors.map((vector) =>
    vector === null ? null : Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("base64"),
  );
  return { model, dimension, encoding: ENCODING, data };
}

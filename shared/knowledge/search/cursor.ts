/**
 * The ranking behind a page of a search, as the text by which the next page is asked for. It holds the hits themselves:
 * what is indexed or removed meanwhile changes the order of a query that is asked again, and not the hits of a cursor.
 *
 * One byte of version, eight of a checksum, twelve that name the search, then JSON of what all pages have in common
 * with its length before it, then the hits: as a rule 35 or 45 bytes each.
 */
import { z } from "zod";
import { ApiError } from "../../platform/errors.ts";
import { sha256 } from "../../platform/ids.ts";
import type { Fusion } from "../embedders/embedder.ts";
import type { ListedHit, NearDuplicate } from "./listed-hit.ts";
import { requestKey } from "./request-key.ts";
import type { SearchRequest } from "./search-request.ts";
import type { SideName } from "./sides.ts";
import type { Total } from "./totals.ts";

/** What the pages of one search have in common. */
export interface PageHeader<Missing = { side: SideName; code: string }> {
  total: Total;
  missing: Missing[];
  fusion: Fusion | null;
}

export interface RestOfRanking extends PageHeader {
  /** Best first; never empty. */
  hits: ListedHit[];
}

const headerSchema = z.object({
  total: z.object({ count: z.number(), exact: z.boolean() }),
  missing: z.array(z.object({ side: z.enum(["vector", "keyword", "reranker"]), code: z.string() })),
  fusion: z
    .object({
      method: z.enum(["linear", "rrf"]),
      weights: z.object({ vector: z.number(), keyword: z.number() }),
      rankConstant: z.number().exactOptional(),
    })
    .nullable(),
});

const VERSION = 1;
const CHECKSUM = { at: 1, length: 8 };
const SEARCH = { at: 9, length: 12 };
const BODY_AT = 21;
const BY_VECTOR = 1;
const BY_KEYWORD = 2;
const RERANKED = 4;
const COLLAPSED = 8;
const OF_SECTION = 16;
const OF_DOCUMENT = 32;
/** Without what is collapsed under it. */
const MOST_HIT_BYTES = 57;
const DUPLICATE_BYTES = 32;

export function encodeRest(request: SearchRequest, { hits, total, missing, fusion }: RestOfRanking): string {
  const header: PageHeader = { total, missing: missing.map(({ side, code }) => ({ side, code })), fusion };
  const json = Buffer.from(JSON.stringify(header));
  const bytes = Buffer.alloc(BODY_AT + 2 + json.length + sizeOf(hits));
  bytes.writeUInt8(VERSION, 0);
  nameOf(request).copy(bytes, SEARCH.at);
  let at = bytes.writeUInt16LE(json.length, BODY_AT);
  at += json.copy(bytes, at);
  for (const hit of hits) at = writeHit(bytes, at, hit);
  const whole = bytes.subarray(0, at);
  checksumOf(whole).copy(whole, CHECKSUM.at);
  return whole.toString("base64url");
}

/**
 * @throws ApiError CURSOR_INVALID where it was altered or is none of a search, CURSOR_OF_ANOTHER_SEARCH where the
 * request asks for something else than the one that it came from
 */
export function decodeRest(request: SearchRequest, cursor: string): RestOfRanking {
  const bytes = Buffer.from(cursor, "base64url");
  const whole =
    bytes.length > BODY_AT &&
    bytes.toString("base64url") === cursor &&
    bytes.readUInt8(0) === VERSION &&
    checksumOf(bytes).equals(part(bytes, CHECKSUM));
  if (!whole) throw invalid();
  if (!nameOf(request).equals(part(bytes, SEARCH))) {
    const message =
      "The cursor belongs to another search: send the query, the filters and the ranking that it came from";
    throw fault("CURSOR_OF_ANOTHER_SEARCH", message);
  }
  try {
    return readBody(new Reader(bytes, BODY_AT));
  } catch (cause) {
    throw invalid(cause);
  }
}

/** @throws whatever reading beyond the end, or no JSON, throws */
function readBody(reader: Reader): RestOfRanking {
  const header = headerSchema.parse(JSON.parse(reader.text(reader.short())));
  const hits: ListedHit[] = [];
  while (!reader.ended) hits.push(readHit(reader));
  return { ...header, hits };
}

const invalid = (cause?: unknown): ApiError =>
  fault("CURSOR_INVALID", "The cursor is none that a search gave, or was altered", cause);

function fault(code: string, message: string, cause?: unknown): ApiError {
  return new ApiError(400, `${message}. Or leave cursor out, for the first page`, {
    ...{ code, cause },
    details: { field: "cursor" },
  });
}

/** Pages may differ in their length, and in what they tell of their hits. */
function nameOf({ query, mode, minScore = 0, filter = {}, ...rest }: SearchRequest): Buffer {
  const { fusion, collapse = false, rerankTopN, groupBy } = rest;
  const ranking = {
    ...(fusion && { fusion }),
    ...(rerankTopN !== undefined && { rerankTopN }),
    collapse,
    ...(groupBy && { groupBy }),
  };
  return sha256(requestKey({ query, mode, minScore, filter, ...ranking })).subarray(0, SEARCH.length);
}

const part = (bytes: Buffer, { at, length }: { at: number; length: number }) => bytes.subarray(at, at + length);
const checksumOf = (bytes: Buffer) => sha256(bytes.subarray(SEARCH.at)).subarray(0, CHECKSUM.length);

function sizeOf(hits: readonly ListedHit[]): number {
  return hits.reduce((sum, { collapsed = [] }) => sum + MOST_HIT_BYTES + collapsed.length * DUPLICATE_BYTES, 0);
}

function writeHit(bytes: Buffer, start: number, hit: ListedHit): number {
  const { chunkId, score, vectorScore, vectorRank, keywordScore, keywordRank, rerankScore, collapsed, sectionAt } = hit;
  const flags =
    (vectorScore === null ? 0 : BY_VECTOR) |
    (keywordScore === null ? 0 : BY_KEYWORD) |
    (rerankScore === undefined ? 0 : RERANKED) |
    (collapsed === undefined ? 0 : COLLAPSED) |
    (sectionAt === undefined ? 0 : sectionAt === null ? OF_DOCUMENT : OF_SECTION);
  let at = bytes.writeUInt8(flags, start);
  at = writeUuid(bytes, at, chunkId);
  at = bytes.writeDoubleLE(score, at);
  if (vectorScore !== null) at = bytes.writeUInt16LE(vectorRank ?? 0, bytes.writeDoubleLE(vectorScore, at));
  if (keywordScore !== null) at = bytes.writeUInt16LE(keywordRank ?? 0, bytes.writeDoubleLE(keywordScore, at));
  if (rerankScore !== undefined) at = bytes.writeDoubleLE(rerankScore, at);
  if (sectionAt != null) at = bytes.writeUInt16LE(sectionAt, at);
  if (collapsed === undefined) return at;
  at = bytes.writeUInt16LE(collapsed.length, at);
  for (const { chunkId: duplicate, score: own, similarity } of collapsed) {
    at = bytes.writeDoubleLE(similarity, bytes.writeDoubleLE(own, writeUuid(bytes, at, duplicate)));
  }
  return at;
}

function writeUuid(bytes: Buffer, at: number, id: string): number {
  return at + bytes.write(id.replaceAll("-", ""), at, "hex");
}

function readHit(reader: Reader): ListedHit {
  const flags = reader.byte();
  const chunkId = reader.uuid();
  const score = reader.number();
  const vector = flags & BY_VECTOR ? { vectorScore: reader.number(), vectorRank: reader.short() } : NOT_BY_VECTOR;
  const keyword = flags & BY_KEYWORD ? { keywordScore: reader.number(), keywordRank: reader.short() } : NOT_BY_KEYWORD;
  const source = vector.vectorScore === null ? "keyword" : keyword.keywordScore === null ? "vector" : "fused";
  const rerankScore = flags & RERANKED ? { rerankScore: reader.number() } : {};
  const section = flags & OF_SECTION ? { sectionAt: reader.short() } : flags & OF_DOCUMENT ? { sectionAt: null } : {};
  const collapsed = flags & COLLAPSED ? { collapsed: readDuplicates(reader) } : {};
  return { chunkId, score, ...vector, ...keyword, source, ...rerankScore, ...section, ...collapsed };
}

function readDuplicates(reader: Reader): NearDuplicate[] {
  return Array.from({ length: reader.short() }, () => ({
    chunkId: reader.uuid(),
    score: reader.number(),
    similarity: reader.number(),
  }));
}

const NOT_BY_VECTOR = { vectorScore: null, vectorRank: null };
const NOT_BY_KEYWORD = { keywordScore: null, keywordRank: null };

class Reader {
  private readonly bytes: Buffer;
  private at: number;

  constructor(bytes: Buffer, start: number) {
    this.bytes = bytes;
    this.at = start;
  }

  get ended(): boolean {
    return this.at >= this.bytes.length;
  }

  byte(): number {
    return this.bytes.readUInt8(this.step(1));
  }

  short(): number {
    return this.bytes.readUInt16LE(this.step(2));
  }

  number(): number {
    return this.bytes.readDoubleLE(this.step(8));
  }

  text(length: number): string {
    const at = this.step(length);
    return this.bytes.toString("utf8", at, at + length);
  }

  uuid(): string {
    const at = this.step(16);
    const hex = this.bytes.toString("hex", at, at + 16);
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  }

  private step(length: number): number {
    const at = this.at;
    this.at += length;
    return at;
  }
}

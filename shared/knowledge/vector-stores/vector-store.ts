/** The vector store port. Ids are chunk ids; the rows in PostgreSQL decide what is visible. */

export interface VectorPoint {
  chunkId: string;
  vector: Float32Array;
  payload: {
    documentId: string;
    generationId: string;
    collectionId: string | null;
    domain: string;
    url: string;
    title: string | null;
    source: "crawl" | "upload" | "api";
    /** ISO 639-1, or "und". */
    language: string;
    /** Ids, as they were when the point was stored. */
    tags: string[];
    /** ISO 8601 UTC. */
    crawledAt: string;
  };
}

/** What a point says of its document; what its store does not keep, or did not when it was stored, is left out. */
export type PointLabels = Partial<
  Pick<VectorPoint["payload"], "documentId" | "collectionId" | "domain" | "source" | "language" | "tags">
>;

export interface VectorFilter {
  collectionIds?: string[];
  domains?: string[];
  documentIds?: string[];
  /** Ids of tags: of points that have one of them. */
  anyTag?: string[];
  /** Ids of tags: of points that have them all. */
  allTags?: string[];
  /** ISO 639-1, or "und". Points that were stored before stores knew it are found by any. */
  languages?: string[];
  sources?: string[];
  /** ISO 8601 UTC, in whole ms, both ends included; a store may be as much as a minute too generous. */
  dateFrom?: string;
  dateTo?: string;
}

export interface VectorHit {
  chunkId: string;
  /** Cosine similarity, -1 to 1. */
  score: number;
}

export interface VectorStore {
  /**
   * Idempotent: a point with the same chunk id is replaced.
   * @throws RetryableError where the store cannot be reached
   */
  upsert(points: readonly VectorPoint[]): Promise<void>;
  /** Best first, at most `limit`. */
  search(vector: Float32Array, limit: number, filter?: VectorFilter): Promise<VectorHit[]>;
  /** The vectors of these chunks that it has; a store may keep them with a length of 1. */
  read(chunkIds: readonly string[]): Promise<Map<string, Float32Array>>;
  deleteDocuments(documentIds: readonly string[]): Promise<void>;
  deletePoints(chunkIds: readonly string[]): Promise<void>;
  /**
   * Up to `limit` of the ids that follow `after`, in the order that PostgreSQL sorts uuids in; null: from the first.
   * @returns `labels`: by id; `more`: whether others follow these
   */
  scan(
    after: string | null,
    limit: number,
  ): Promise<{ ids: string[]; labels: ReadonlyMap<string, PointLabels>; more: boolean }>;
  /** Removes every vector of the model. */
  drop(): Promise<void>;
  /** Whether it holds no vector of the model at all. */
  isEmpty(signal: AbortSignal): Promise<boolean>;
  /** Resolves where the store can answer. */
  check(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

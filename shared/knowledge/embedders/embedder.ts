/** The embedder port: text in, vectors out, and what the rest must know of the model. */

/** How vector hits and keyword hits become one ranking: see `search/fusion.ts`. */
export interface Fusion {
  method: "linear" | "rrf";
  weights: { vector: number; keyword: number };
  /** Of reciprocal ranks: the higher, the less the first ranks stand out; 60 where nothing is said. */
  rankConstant?: number;
}

export interface EmbedderDescriptor {
  /** Names the vector collection together with the dimension, and keys the embedding cache. */
  model: string;
  /** Length of each vector. */
  dimension: number;
  /** Tokens of a text that the model reads; more is cut. */
  maxTokens: number;
  /** ISO 639-1; texts in others get no vector. null: whatever comes. */
  languages: readonly string[] | null;
  /** Whether a vector costs more to make than to look up. */
  cached: boolean;
  /** How its hits join those of keywords, chosen by measurement so that hybrid is no worse than its better half. */
  fusion: Fusion;
}

export interface RememberedVector {
  vector: Float32Array | null;
  /** Whether it was there already. */
  remembered: boolean;
}

export interface Embedder {
  readonly descriptor: EmbedderDescriptor;
  /**
   * One vector of length `descriptor.dimension` per text, in order; null for a text of which the model knows nothing.
   * @throws RetryableError where the model cannot be reached
   */
  embedDocuments(texts: readonly string[]): Promise<(Float32Array | null)[]>;
  embedQuery(text: string): Promise<Float32Array | null>;
  /** As `embedQuery`, by an embedder that keeps vectors of queries. */
  recallQuery?(text: string): Promise<RememberedVector>;
  /** Resolves where the embedder can answer. */
  check(signal: AbortSignal): Promise<void>;
}

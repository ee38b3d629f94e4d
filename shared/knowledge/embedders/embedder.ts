/** The embedder port: text in, vectors out, and what the rest must know of the model. */

export interface EmbedderDescriptor {
  /** Names the vector collection together with the dimension, and keys the embedding cache. */
  model: string;
  /** Length of each vector. */
  dimension: number;
  /** Tokens of a text that the model reads; more is cut. */
  maxTokens: number;
  /**
   * Weights of the two sides in rank fusion, chosen by measurement so that hybrid is never worse than its better half.
   */
  fusionWeights: { vector: number; keyword: number };
}

export interface Embedder {
  readonly descriptor: EmbedderDescriptor;
  /**
   * One vector of length `descriptor.dimension` per text, in order.
   * @throws RetryableError where the model cannot be reached
   */
  embedDocuments(texts: readonly string[]): Promise<Float32Array[]>;
  embedQuery(text: string): Promise<Float32Array>;
  /** Resolves where the embedder can answer. */
  check(signal: AbortSignal): Promise<void>;
}

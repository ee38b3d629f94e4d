/** The port of a model that reads query and passage together, and says how well the one answers the other. */
export interface Reranker {
  /**
   * @returns for each text how well it answers the query, 0 to 1
   * @throws RetryableError or PermanentError with a code `RERANKER_…`, within the time that it is given
   */
  rerank(query: string, texts: readonly string[]): Promise<number[]>;
  /** Resolves where it can answer. */
  check(signal: AbortSignal): Promise<void>;
}

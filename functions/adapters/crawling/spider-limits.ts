/** What every route that crawls from seeds allows. */

export const MAX_SEEDS = 10_000;
export const RESULT_MODES = ["stats", "urls", "pages", "stream", "store"] as const;

/** Seconds that an answer waits for its crawl where the request says nothing. */
export const DEFAULT_ANSWER_TIMEOUT_S = 30;
/** API Gateway ends a connection after five minutes without a byte. */
export const MAX_ANSWER_TIMEOUT_S = 280;

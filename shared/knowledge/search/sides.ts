/**
 * The two sides of a search, each of which may be slow, down or empty while the other answers. What is missing is said,
 * with a reason that holds nothing private.
 */
import { ApiError, PermanentError, RetryableError } from "../../platform/errors.ts";

export type SideName = "vector" | "keyword" | "reranker";

/** A side that gave nothing to an answer, or a reranker that did not, and why. */
export interface MissingSide {
  side: SideName;
  code: string;
  /** For the caller: a clause without a full stop. */
  reason: string;
  /** For the log. */
  cause: unknown;
}

export type SideOutcome<T> = { value: T } | { missing: MissingSide };

/** Of a search by both sides: for all that one of them asks of other servers, and for each statement. In ms. */
export const SHARED_WAIT_MS = 3_000;
/** Of a search by one side, which nothing can replace. */
export const LONE_WAIT_MS = 10_000;
/** For so long nobody waits again for what let a search wait in vain: each wait holds a connection. In ms. */
const REST_MS = 5_000;

const REASONS: Readonly<Record<string, string>> = {
  EMBEDDER_UNAVAILABLE: "the embedder does not answer",
  EMBEDDER_BUSY: "the embedder is overloaded",
  EMBEDDER_KEY_REFUSED: "the embedder refuses the key that it is asked with",
  EMBEDDER_REFUSED: "the embedder refuses this query",
  EMBEDDER_ANSWER_INVALID: "the embedder's answer holds no vectors",
  EMBEDDER_MODEL_MISMATCH: "the embedding server runs another model than it is configured for",
  EMBEDDING_INVALID: "the embedder gave no usable vector for this query",
  VECTOR_SIDE_LATE: "embedder and vector store did not answer in time",
  VECTOR_STORE_UNAVAILABLE: "the vector store does not answer",
  VECTOR_STORE_BUSY: "the vector store is overloaded",
  VECTOR_STORE_KEY_REFUSED: "the vector store refuses the key that it is asked with",
  VECTOR_STORE_LIMIT: "a limit of the vector store forbids this search",
  VECTOR_STORE_REFUSED: "the vector store refuses this search",
  VECTOR_STORE_MISMATCH: "the vector store holds vectors that do not fit the configured model",
  VECTOR_STORE_ANSWER_INVALID: "the vector store's answer holds no hits",
  VECTOR_STORE_EXTENSION_MISSING: "the database lacks the extension that keeps vectors",
  VECTOR_STORE_EMPTY: "the vector store has lost the vectors of these pages",
  VECTORS_OF_ANOTHER_MODEL: "these pages have their vectors from another model than the configured one",
  SEARCH_TIMEOUT: "the index took too long",
  RERANKER_UNAVAILABLE: "the reranker does not answer in time",
  RERANKER_BUSY: "the reranker is overloaded",
  RERANKER_KEY_REFUSED: "the reranker refuses the key that it is asked with",
  RERANKER_REFUSED: "the reranker refuses this search",
  RERANKER_ANSWER_INVALID: "the reranker's answer holds no scores",
  RERANKER_MODEL_MISMATCH: "the reranking server runs a model that is no reranker",
};

/** Resolves whatever becomes of the side. */
export async function outcomeOf<T>(side: SideName, asked: Promise<T>): Promise<SideOutcome<T>> {
  try {
    return { value: await asked };
  } catch (cause) {
    return { missing: missingSide(side, codeOf(side, cause), cause) };
  }
}

export function missingSide(side: SideName, code: string, cause: unknown): MissingSide {
  return { side, code, reason: REASONS[code] ?? "an error that the log tells", cause };
}

function codeOf(side: SideName, error: unknown): string {
  if (error instanceof RetryableError || error instanceof PermanentError) return error.code;
  if (isCancelled(error)) return "SEARCH_TIMEOUT";
  return FAILED[side];
}

const FAILED = { vector: "VECTOR_SIDE_FAILED", keyword: "KEYWORD_SIDE_FAILED", reranker: "RERANKER_FAILED" } as const;

const isCancelled = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "57014"; /* query_canceled */

/** By then nobody rests any more: see `REST_MS`. */
const RETRY_SOON = { "retry-after": String(REST_MS / 1000) };

/** What a caller can do where no side is left to answer. */
export function searchError({ side, code, reason, cause }: MissingSide): unknown {
  if (cause instanceof ApiError) return cause;
  if (isCancelled(cause)) {
    const message = "The search took too long: ask for rarer words or a shorter phrase";
    return new ApiError(503, message, { code, cause, headers: RETRY_SOON });
  }
  if (side === "keyword") return cause;
  const message = `Vector search is not available now, since ${reason}: try again later, or use /api/v1/search/keyword`;
  return new ApiError(503, message, { code, cause, headers: RETRY_SOON });
}

/** What the vector side of one search may wait for other servers, all its requests together. */
export class Patience {
  private leftMs: number;

  constructor(ms: number) {
    this.leftMs = ms;
  }

  /** @throws RetryableError VECTOR_SIDE_LATE where the time ends first; what was asked for is left to itself */
  async wait<T>(asked: Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    const started = performance.now();
    const timer = setTimeout(() => late.reject(tooLate()), Math.max(0, this.leftMs));
    try {
      return await Promise.race([asked, late.promise]);
    } finally {
      clearTimeout(timer);
      this.leftMs -= performance.now() - started;
    }
  }
}

const tooLate = () =>
  new RetryableError("Embedder and vector store did not answer in time", { code: "VECTOR_SIDE_LATE" });

/** When a search waited in vain, by what it asked. */
const waitedInVain = new WeakMap<object, number>();

/**
 * Asks the vector side for a search that can do without it: not for a while where the last one waited in vain.
 * @param asked that which all searches share
 */
export async function unlessResting<T>(asked: object, work: () => Promise<T>): Promise<T> {
  const since = waitedInVain.get(asked);
  if (since !== undefined && performance.now() - since < REST_MS) throw tooLate();
  try {
    return await work();
  } catch (error) {
    if (error instanceof RetryableError && error.code === "VECTOR_SIDE_LATE")
      waitedInVain.set(asked, performance.now());
    throw error;
  }
}

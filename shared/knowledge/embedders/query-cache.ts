/** Keeps the vectors of the last queries: people ask the same again, page after page, and at the same time. */
import { LRUCache } from "lru-cache";
import type { Embedder } from "./embedder.ts";
import { embedQuery } from "./validation.ts";

/** Of 2 KB and more each, by the model. */
const QUERIES = 500;

/** @returns the embedder itself where a vector costs no more to make than to look up */
export function rememberQueries(embedder: Embedder): Embedder {
  if (!embedder.descriptor.cached) return embedder;
  const known = new LRUCache<string, Promise<Float32Array | null>>({ max: QUERIES });
  return {
    descriptor: embedder.descriptor,
    embedDocuments: (texts) => embedder.embedDocuments(texts),
    check: (signal) => embedder.check(signal),
    holdsQuery: (text) => known.has(text),
    embedQuery(text) {
      const held = known.get(text);
      if (held !== undefined) return held;
      const made = embedQuery(embedder, text);
      known.set(text, made);
      // the next one tries again
      made.catch(() => known.delete(text));
      return made;
    },
  };
}

/** Keeps the vectors of queries: people ask the same again, page after page, and at the same time. */
import { LRUCache } from "lru-cache";
import type { SharedCache } from "../../platform/aws/shared-cache.ts";
import type { Embedder, EmbedderDescriptor, RememberedVector } from "./embedder.ts";
import { embeddingFault, embedQuery } from "./validation.ts";

/** Of 2 KB and more each, by the model. */
const QUERIES = 500;

type QueryVector = Float32Array | null;
export type QueryVectors = SharedCache<QueryVector>;

/**
 * @param shared what containers share; null: each keeps its own
 * @returns the embedder itself where a vector costs no more to make than to look up
 */
export function rememberQueries(embedder: Embedder, shared: QueryVectors | null = null): Embedder {
  const { descriptor } = embedder;
  if (!descriptor.cached) return embedder;
  const known = new LRUCache<string, Promise<RememberedVector>>({ max: QUERIES });
  async function findOrMake(text: string): Promise<RememberedVector> {
    if (shared === null) return { vector: await embedQuery(embedder, text), remembered: false };
    const name = nameOf(descriptor, text);
    const make = async () => ({ value: await embedQuery(embedder, text), keepAs: name });
    const { value, until } = await shared.through(name, make);
    // a model of another dimension may have had the name
    if (value !== null && embeddingFault(value, descriptor.dimension) !== undefined) {
      return { vector: (await make()).value, remembered: false };
    }
    return { vector: value, remembered: until !== null };
  }
  const recallQuery = async (text: string): Promise<RememberedVector> => {
    const held = known.get(text);
    if (held !== undefined) return { ...(await held), remembered: true };
    const found = findOrMake(text);
    known.set(text, found);
    // the next one tries again
    found.catch(() => known.delete(text));
    return await found;
  };
  return {
    descriptor,
    embedDocuments: (texts) => embedder.embedDocuments(texts),
    check: (signal) => embedder.check(signal),
    recallQuery,
    embedQuery: async (text) => (await recallQuery(text)).vector,
  };
}

const nameOf = ({ model, dimension }: EmbedderDescriptor, text: string): string =>
  JSON.stringify([model, dimension, text]);

/** Little-endian, as every platform that Node runs on keeps it; nothing where the model knows nothing of the query. */
export function encodeVector(vector: QueryVector): Uint8Array {
  return vector === null ? new Uint8Array() : new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}

/** @throws RangeError where these are no numbers of four bytes */
export function decodeVector(bytes: Uint8Array): QueryVector {
  return bytes.length === 0 ? null : new Float32Array(Uint8Array.from(bytes).buffer);
}

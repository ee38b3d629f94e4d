/**
 * Whether a vector may be stored or searched by: a bad one would poison every search of its collection, or find
 * whatever comes.
 */
import { RetryableError } from "../../platform/errors.ts";
import type { Embedder } from "./embedder.ts";

const SMALLEST_NORM = 0.1;

/** @returns what is wrong with the vector, or undefined where it may be stored */
export function embeddingFault(vector: Float32Array, dimension: number): string | undefined {
  if (vector.length !== dimension) return `it has ${vector.length} numbers instead of ${dimension}`;
  let squares = 0;
  for (const [index, value] of vector.entries()) {
    if (!Number.isFinite(value)) return `number ${index} is ${value}`;
    squares += value * value;
  }
  if (squares === 0) return "all its numbers are zero";
  const norm = Math.sqrt(squares);
  // finite floats can still have an infinite sum of squares only beyond 1e19, which no normalised model gives
  if (norm < SMALLEST_NORM || !Number.isFinite(norm)) return `its norm is ${norm}`;
  return undefined;
}

/**
 * The vector of a query; null where the model knows nothing of it.
 * @throws RetryableError EMBEDDING_INVALID where it is of no use
 */
export async function embedQuery(
  embedder: Pick<Embedder, "embedQuery" | "descriptor">,
  text: string,
): Promise<Float32Array | null> {
  const vector = await embedder.embedQuery(text);
  const fault = vector === null ? undefined : embeddingFault(vector, embedder.descriptor.dimension);
  if (fault === undefined) return vector;
  throw new RetryableError(`The embedder gave no usable vector for the query: ${fault}`, { code: "EMBEDDING_INVALID" });
}

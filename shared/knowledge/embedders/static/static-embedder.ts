/**
 * The default embedder: a text's vector is the sum of its pieces' rows, brought to length 1. No network is run, so a
 * text costs a fraction of a millisecond on any machine, and nothing has to be installed, reached or warmed up.
 */
import { accessSync } from "node:fs";
import { join } from "node:path";
import { RetryableError } from "../../../platform/errors.ts";
import type { Embedder } from "../embedder.ts";
import { loadModel, MODEL_FILES, type StaticModel } from "./model.ts";
import { visitRows } from "./pieces.ts";
import { STATIC_DESCRIPTOR } from "./static-descriptor.ts";

const OWN_FILES = join(import.meta.dirname, "../../../../layers/embedding-model");

/** @param path empty: the repository's own files */
export const modelDirectory = (path: string): string => path || OWN_FILES;

/** @param path of the folder with the model's files; empty: the repository's own */
export function createStaticEmbedder(path = ""): Embedder {
  const directory = modelDirectory(path);
  const open = (): StaticModel => {
    try {
      return loadModel(directory);
    } catch (cause) {
      throw new RetryableError("The embedding model did not load: are its files in EMBEDDER__MODEL_PATH?", {
        code: "EMBEDDER_UNAVAILABLE",
        cause,
      });
    }
  };
  return {
    descriptor: STATIC_DESCRIPTOR,
    async embedDocuments(texts) {
      const model = open();
      return texts.map((text) => embedText(model, text, STATIC_DESCRIPTOR.maxTokens));
    },
    async embedQuery(text) {
      return embedText(open(), text, STATIC_DESCRIPTOR.maxTokens);
    },
    async check() {
      // that it is there is enough: whoever only asks needs none of its 26 MB
      for (const name of MODEL_FILES) accessSync(join(directory, name));
    },
  };
}

/**
 * @param limit pieces that are read; more is cut
 * @returns a vector of length 1; null where the model knows nothing of the text
 */
export function embedText(model: StaticModel, text: string, limit: number): Float32Array | null {
  const { dimension, rows, scales } = model;
  const counts = new Map<number, number>();
  visitRows(model.vocabulary, text, limit, (row) => counts.set(row, (counts.get(row) ?? 0) + 1));
  if (counts.size === 0) return null;
  const froms: number[] = [];
  const factors: number[] = [];
  for (const [row, count] of counts) {
    froms.push(row * dimension);
    factors.push((scales[row] as number) * count);
  }
  const sum = sumOfRows(rows, dimension, froms, factors);
  let squares = 0;
  for (let place = 0; place < dimension; place++) squares += (sum[place] as number) ** 2;
  if (squares === 0) return null;
  const scale = 1 / Math.sqrt(squares);
  const vector = new Float32Array(dimension);
  for (let place = 0; place < dimension; place++) vector[place] = (sum[place] as number) * scale;
  return vector;
}

/** Four rows at once, so that each sum is read and written a fourth as often: here a text spends most of its time. */
function sumOfRows(rows: Int8Array, dimension: number, froms: number[], factors: number[]): Float64Array {
  const sum = new Float64Array(dimension);
  // rows that are added none of fill up the last four
  while (froms.length % 4 !== 0) {
    froms.push(0);
    factors.push(0);
  }
  for (let each = 0; each < froms.length; each += 4) {
    const [a, b, c, d] = froms.slice(each, each + 4) as [number, number, number, number];
    const [e, f, g, h] = factors.slice(each, each + 4) as [number, number, number, number];
    for (let at = 0; at < dimension; at++) {
      sum[at] =
        (sum[at] as number) +
        e * (rows[a + at] as number) +
        f * (rows[b + at] as number) +
        g * (rows[c + at] as number) +
        h * (rows[d + at] as number);
    }
  }
  return sum;
}

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
  const sum = new Float32Array(dimension);
  for (const [row, count] of counts) {
    const factor = (scales[row] as number) * count;
    const from = row * dimension;
    for (let at = 0; at < dimension; at++) sum[at] = (sum[at] as number) + factor * (rows[from + at] as number);
  }
  let squares = 0;
  for (const value of sum) squares += value * value;
  if (squares === 0) return null;
  const scale = 1 / Math.sqrt(squares);
  return sum.map((value) => value * scale);
}

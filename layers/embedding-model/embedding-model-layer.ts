/** The layer of functions that embed: the default model's weights and vocabulary, with what their licences ask for. */
import type { Layer } from "../layer.ts";

export const EMBEDDING_MODEL_LAYER: Layer = {
  name: "embedding-model",
  about: "The default embedding model",
  architecture: "any",
  packages: [],
  files: {
    from: import.meta.dirname,
    names: ["model.safetensors", "vocab.txt", "LICENCES.md", "potion-base-8M-ATTRIBUTION.txt"],
  },
};

/** Where a function finds them. */
export const EMBEDDING_MODEL_PATH = `/opt/${EMBEDDING_MODEL_LAYER.name}`;

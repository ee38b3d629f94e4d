/** The layers of the deployment, built into folders. */
import { join } from "node:path";
import { CHROMIUM_LAYER } from "../layers/chromium/chromium-layer.ts";
import { EMBEDDING_MODEL_LAYER } from "../layers/embedding-model/embedding-model-layer.ts";
import { buildLayer } from "../layers/layer.ts";

/** Where each of them lies. */
export interface LayerFolders {
  chromium: string;
  embeddingModel: string;
}

/** @param directory gets a folder for each layer */
export async function buildLayers(directory: string): Promise<LayerFolders> {
  const folders = {
    chromium: join(directory, CHROMIUM_LAYER.name),
    embeddingModel: join(directory, EMBEDDING_MODEL_LAYER.name),
  };
  await buildLayer(CHROMIUM_LAYER, folders.chromium);
  await buildLayer(EMBEDDING_MODEL_LAYER, folders.embeddingModel);
  return folders;
}

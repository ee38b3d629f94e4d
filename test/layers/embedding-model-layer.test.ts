/** The model's layer as Lambda unpacks it. */
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EMBEDDING_MODEL_LAYER, EMBEDDING_MODEL_PATH } from "../../layers/embedding-model/embedding-model-layer.ts";
import { buildLayer } from "../../layers/layer.ts";
import { createEmbedder } from "../../shared/knowledge/embedders/registry.ts";
import { loadConfig } from "../../shared/platform/config.ts";

test("holds what the embedder reads where the functions are told to look, and the licences", async () => {
  const directory = await mkdtemp(join(tmpdir(), "strandline layer "));
  try {
    await buildLayer(EMBEDDING_MODEL_LAYER, directory);
    const folder = join(directory, EMBEDDING_MODEL_PATH.replace("/opt/", ""));
    const embedder = await createEmbedder(loadConfig({ EMBEDDER__MODEL_PATH: folder }));
    expect(await embedder.embedQuery("a layer")).toHaveLength(embedder.descriptor.dimension);
    const files = await readdir(folder);
    expect(files).toEqual(expect.arrayContaining(["LICENCES.md", "potion-base-8M-ATTRIBUTION.txt"]));
    const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(30_000_000);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

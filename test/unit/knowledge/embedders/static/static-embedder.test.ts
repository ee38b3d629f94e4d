/** The model against the vectors and the counts of pieces that came with it, and what holds of any text. */
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readModel, shareWeights } from "../../../../../shared/knowledge/embedders/static/model.ts";
import { visitRows } from "../../../../../shared/knowledge/embedders/static/pieces.ts";
import {
  createStaticEmbedder,
  embedText,
  modelDirectory,
} from "../../../../../shared/knowledge/embedders/static/static-embedder.ts";
import { embeddingFault } from "../../../../../shared/knowledge/embedders/validation.ts";

interface Expected {
  text: string;
  tokens: number;
  norm: number;
  first8: number[];
}

const ROOT = join(import.meta.dirname, "../../../../..");
const vectors = JSON.parse(
  readFileSync(join(ROOT, "test/fixtures/static-embedder/vectors.json"), "utf8"),
) as Expected[];
const model = readModel(join(ROOT, "layers/embedding-model"));

const rowsOf = (text: string, limit = Number.POSITIVE_INFINITY): number[] => {
  const rows: number[] = [];
  visitRows(model.vocabulary, text, limit, (row) => rows.push(row));
  return rows;
};

/** All numbers of all vectors, in their order, as the reference implementation beside them makes them. */
const whole = readFileSync(join(ROOT, "test/fixtures/static-embedder/whole-vectors.bin"));
const AGREEMENT = 1e-6;

test.each(vectors.map((each, at) => ({ ...each, at })))("$text", ({ text, tokens, norm, first8, at }) => {
  expect(rowsOf(text)).toHaveLength(tokens);
  const vector = embedText(model, text, Number.POSITIVE_INFINITY);
  if (norm === 0) return expect(vector).toBeNull();
  const expected = Array.from({ length: model.dimension }, (_, each) =>
    whole.readFloatLE((at * model.dimension + each) * Float32Array.BYTES_PER_ELEMENT),
  );
  const furthest = (numbers: readonly number[]): number =>
    Math.max(...numbers.map((number, each) => Math.abs(number - (vector?.[each] ?? Number.NaN))));
  expect(vector).toHaveLength(expected.length);
  expect(furthest(expected)).toBeLessThan(AGREEMENT);
  expect(furthest(first8)).toBeLessThan(AGREEMENT);
  expect(Math.abs(Math.hypot(...(vector ?? [])) - norm)).toBeLessThan(AGREEMENT);
});

test("vectors of the reference are there for every text", () => {
  expect(whole.length).toBe(vectors.length * model.dimension * Float32Array.BYTES_PER_ELEMENT);
});

test("any text has a vector that may be stored, or none", () => {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }), fc.string());
  fc.assert(
    fc.property(text, (each) => {
      const vector = embedText(model, each, 512);
      if (vector !== null) expect(embeddingFault(vector, model.dimension)).toBeUndefined();
      expect(vector === null).toBe(rowsOf(each).length === 0);
    }),
    { numRuns: 300 },
  );
});

test("unpaired surrogates and NUL are no pieces of anything", () => {
  expect(rowsOf("\ud800 \0 \udfff")).toEqual([]);
  expect(rowsOf("word\ud800word")).toEqual(rowsOf("word word"));
});

test("no more is read than the limit says", () => {
  const text = "one 二 three vier ".repeat(50);
  for (const limit of [0, 1, 7]) expect(rowsOf(text, limit)).toEqual(rowsOf(text).slice(0, limit));
});

test("a known word is its own row, and every line of the vocabulary finds itself", () => {
  const lines = readFileSync(join(ROOT, "layers/embedding-model/vocab.txt"), "utf8").trimEnd().split("\n");
  expect(model.vocabulary.size).toBe(lines.length);
  for (const row of [0, 5_000, 26_281, 26_282, 60_000, lines.length - 1]) {
    const piece = lines[row] ?? "";
    if (!piece.startsWith("##")) expect(rowsOf(piece), piece).toEqual([row]);
  }
});

test("close meanings are close, across languages too", async () => {
  const embedder = createStaticEmbedder();
  const [pasta, stocks, nudeln] = await embedder.embedDocuments([
    "Recipe for boiling spaghetti",
    "The stock market fell",
    "Ein Rezept für gekochte Nudeln",
  ]);
  const query = await embedder.embedQuery("How do I cook pasta?");
  const near = (vector: Float32Array | null | undefined): number =>
    query?.reduce((sum, value, at) => sum + value * (vector?.[at] ?? 0), 0) ?? 0;
  expect(near(pasta)).toBeGreaterThan(near(stocks) + 0.2);
  expect(near(nudeln)).toBeGreaterThan(near(stocks));
});

test("threads begun later see the same weights, and make the same vectors of them", async () => {
  const directory = modelDirectory("");
  shareWeights(directory);
  const [modelFile, embedderFile] = ["model", "static-embedder"].map((name) =>
    pathToFileURL(join(ROOT, `shared/knowledge/embedders/static/${name}.ts`)),
  );
  const script = `
    import { parentPort } from "node:worker_threads";
    import { loadModel } from "${modelFile}";
    import { embedText } from "${embedderFile}";
    const model = loadModel(${JSON.stringify(directory)});
    const shared = model.rows.buffer instanceof SharedArrayBuffer;
    parentPort.postMessage({ shared, vector: embedText(model, "a thread", 9) });`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`));
  const answer = await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  await worker.terminate();
  expect(answer).toEqual({ shared: true, vector: embedText(model, "a thread", 9) });
});

test("files that are missing or do not fit each other are told apart from a text without a vector", async () => {
  const folder = await mkdtemp(join(tmpdir(), "strandline model "));
  try {
    const embedder = createStaticEmbedder(folder);
    await expect(embedder.check(AbortSignal.timeout(1_000))).rejects.toThrow("model.safetensors");
    await expect(embedder.embedQuery("x")).rejects.toMatchObject({ code: "EMBEDDER_UNAVAILABLE" });
    const header = JSON.stringify({
      embeddings: { dtype: "I8", shape: [2, 4], data_offsets: [8, 16] },
      scales: { dtype: "F32", shape: [2], data_offsets: [0, 8] },
    });
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(header.length));
    await writeFile(join(folder, "model.safetensors"), Buffer.concat([length, Buffer.from(header), Buffer.alloc(16)]));
    await writeFile(join(folder, "vocab.txt"), "one\n");
    expect(() => readModel(folder)).toThrow("2 and 1 rows");
    await writeFile(join(folder, "vocab.txt"), "one\ntwo\n");
    // all zeros
    expect(embedText(readModel(folder), "two", 9)).toBeNull();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

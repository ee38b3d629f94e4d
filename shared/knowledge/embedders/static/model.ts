/**
 * The model's files: `model.safetensors` (https://huggingface.co/docs/safetensors, `embeddings` int8 and `scales`
 * float32) and `vocab.txt`, which have the same number of rows.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { getEnvironmentData, setEnvironmentData } from "node:worker_threads";
import { z } from "zod";
import { readVocabulary, type Vocabulary } from "./vocabulary.ts";

export interface StaticModel {
  vocabulary: Vocabulary;
  /** Numbers of a row. */
  dimension: number;
  /** Row after row; a number times its row's scale is what it stands for. */
  rows: Int8Array;
  scales: Float32Array;
}

const tensorSchema = z.object({
  dtype: z.string(),
  shape: z.array(z.int().positive()),
  data_offsets: z.tuple([z.int().nonnegative(), z.int().nonnegative()]),
});
const headerSchema = z.object({ embeddings: tensorSchema, scales: tensorSchema });
/** The length of the header stands before it. */
const LENGTH_BYTES = 8;

export const MODEL_FILES = ["model.safetensors", "vocab.txt"] as const;

const SHARED_WEIGHTS = "strandline: weights of the static embedder";

/** Reads the weights into memory that all threads begun from now on see, so that none has 26 MB of its own. */
export function shareWeights(directory: string): void {
  const file = readFileSync(join(directory, MODEL_FILES[0]));
  const bytes = new SharedArrayBuffer(file.length);
  file.copy(Buffer.from(bytes));
  setEnvironmentData(SHARED_WEIGHTS, { directory, bytes });
}

function readWeights(directory: string): Buffer {
  const shared = getEnvironmentData(SHARED_WEIGHTS) as { directory: string; bytes: SharedArrayBuffer } | undefined;
  return shared?.directory === directory ? Buffer.from(shared.bytes) : readFileSync(join(directory, MODEL_FILES[0]));
}

const models = new Map<string, StaticModel>();

/**
 * The model in a folder, read once.
 * @throws Error where a file is missing or is not what it should be
 */
export function loadModel(directory: string): StaticModel {
  const known = models.get(directory);
  if (known !== undefined) return known;
  const model = readModel(directory);
  models.set(directory, model);
  return model;
}

/** @throws Error where a file is missing or is not what it should be */
export function readModel(directory: string): StaticModel {
  const file = readWeights(directory);
  const headerEnd = LENGTH_BYTES + Number(file.readBigUInt64LE(0));
  const header = headerSchema.parse(JSON.parse(file.toString("utf8", LENGTH_BYTES, headerEnd)));
  const dataOf = ({ data_offsets: [from, to] }: z.output<typeof tensorSchema>): Buffer =>
    file.subarray(headerEnd + from, headerEnd + to);
  const rows = dataOf(header.embeddings);
  const scales = Uint8Array.from(dataOf(header.scales));
  const [count = 0, dimension = 0] = header.embeddings.shape;
  const vocabulary = readVocabulary(readFileSync(join(directory, MODEL_FILES[1]), "utf8"));
  if (header.embeddings.dtype !== "I8" || header.scales.dtype !== "F32") {
    throw new Error(
      `${directory}/model.safetensors holds ${header.embeddings.dtype} and ${header.scales.dtype}, not I8 and F32`,
    );
  }
  if (rows.length !== count * dimension || scales.length !== 4 * count || vocabulary.size !== count) {
    throw new Error(`The files in ${directory} do not fit each other: they have ${count} and ${vocabulary.size} rows`);
  }
  return {
    vocabulary,
    dimension,
    rows: new Int8Array(rows.buffer, rows.byteOffset, rows.length),
    scales: new Float32Array(scales.buffer),
  };
}

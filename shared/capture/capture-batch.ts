/**
 * Claim check: fetch writes its captures to S3 as Zstandard-compressed JSON and sends the key, since a queue message
 * holds at most 1 MB.
 */
import { promisify } from "node:util";
import { constants, zstdCompress, zstdDecompress } from "node:zlib";
import { z } from "zod";
import type { ObjectStore } from "../platform/aws/objects.ts";
import { PermanentError, RetryableError } from "../platform/errors.ts";
import { uuidv7 } from "../platform/ids.ts";
import { type Capture, captureSchema } from "./capture.ts";

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** Message of the `captures` queue. */
export const capturesMessageSchema = z.strictObject({
  jobId: z.uuid(),
  /** The fetch task, or null where the captures come from an import. */
  taskId: z.uuid().nullable(),
  batchKey: z.string(),
  /** Which captures of the batch, from the first index to before the second; left out: all of them. */
  range: z.tuple([z.int().nonnegative(), z.int().positive()]).optional(),
});
export type CapturesMessage = z.infer<typeof capturesMessageSchema>;

/** Of one decompressed batch, which is sent when its pages hold 4 million characters. */
const MAX_BATCH_BYTES = 256 * 1024 * 1024;

/** @returns the key under which the batch lies */
export async function writeCaptureBatch(
  objects: ObjectStore,
  jobId: string,
  captures: readonly Capture[],
): Promise<string> {
  return await writeClaimCheck(objects, jobId, captures);
}

/**
 * @throws RetryableError where the batch is missing: it was there, and may be put back; PermanentError where it is
 *   not what it should be
 */
export async function readCaptureBatch(objects: ObjectStore, key: string): Promise<Capture[]> {
  return await readClaimCheck(objects, key, z.array(captureSchema));
}

/** @returns the key under which the value lies, as compressed JSON */
export async function writeClaimCheck(objects: ObjectStore, jobId: string, value: unknown): Promise<string> {
  const key = `captures/${jobId}/${uuidv7()}.json.zst`;
  const body = await compress(JSON.stringify(value), { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
  await objects.put(key, body, "application/zstd");
  return key;
}

/** @throws PermanentError where there is nothing, or not what it should be */
export async function readClaimCheck<T>(objects: ObjectStore, key: string, schema: z.ZodType<T>): Promise<T> {
  const body = await objects.get(key);
  if (body === undefined) throw new RetryableError(`No capture batch at ${key}`, { code: "BATCH_MISSING" });
  try {
    const json = await decompress(body, { maxOutputLength: MAX_BATCH_BYTES });
    return schema.parse(JSON.parse(json.toString("utf8")));
  } catch (cause) {
    throw new PermanentError(`The capture batch at ${key} cannot be read`, { code: "BATCH_INVALID", cause });
  }
}

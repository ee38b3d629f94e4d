/**
 * Claim check: the worker leaves what it found in S3, as Zstandard-compressed JSON lines, and the API reads pages of
 * it.
 */
import { promisify } from "node:util";
import { zstdCompress, zstdDecompress } from "node:zlib";
import { z } from "zod";
import type { ObjectStore } from "../../platform/aws/objects.ts";
import { uuidv7 } from "../../platform/ids.ts";
import type { DiscoveredUrl } from "./collector.ts";
import { type Listed, listedSchema } from "./list-task.ts";

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** 50,000 URLs of 2,048 characters, with the lists they were found in. */
const MAX_RESULT_BYTES = 512 * 1024 * 1024;

const urlSchema: z.ZodType<DiscoveredUrl> = z.strictObject({
  url: z.string(),
  lastmod: z.string().nullable(),
  source: z.enum(["sitemap", "feed", "common_crawl"]),
  found_in: z.string(),
  score: z.number().nullable(),
});

/** @returns the key under which it lies */
export async function writeDiscovery(
  objects: ObjectStore,
  jobId: string,
  urls: readonly DiscoveredUrl[],
): Promise<string> {
  const key = `discoveries/${jobId}/${uuidv7()}.ndjson.zst`;
  const body = await compress(urls.map((url) => JSON.stringify(url)).join("\n"));
  await objects.put(key, body, "application/zstd");
  return key;
}

/** @returns undefined where the object has expired */
export async function readDiscovery(
  objects: ObjectStore,
  key: string,
  { offset, limit }: { offset: number; limit: number },
): Promise<DiscoveredUrl[] | undefined> {
  const body = await objects.get(key);
  if (body === undefined) return undefined;
  const lines = (await decompress(body, { maxOutputLength: MAX_RESULT_BYTES })).toString("utf8").split("\n");
  return lines.slice(offset, offset + limit).map((line) => urlSchema.parse(JSON.parse(line)));
}

/**
 * Leaves what a monitored list names.
 * @returns the key
 */
export async function writeListed(objects: ObjectStore, key: string, listed: Listed): Promise<string> {
  await objects.put(key, await compress(JSON.stringify(listed)), "application/zstd");
  return key;
}

/** @returns undefined where the object has expired */
export async function readListed(objects: ObjectStore, key: string): Promise<Listed | undefined> {
  const body = await objects.get(key);
  if (body === undefined) return undefined;
  return listedSchema.parse(
    JSON.parse((await decompress(body, { maxOutputLength: MAX_RESULT_BYTES })).toString("utf8")),
  );
}

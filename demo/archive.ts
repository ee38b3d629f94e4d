/**
 * What the crawl left in the archive: its WARC files, read with the `warcio` package rather than with our own reader.
 */
import { GetObjectCommand, ListObjectsV2Command, type S3Client } from "@aws-sdk/client-s3";
import { WARCParser } from "warcio";

export interface WarcFile {
  key: string;
  bytes: number;
  /** By type, e.g. `response`. */
  records: Record<string, number>;
  /** URLs with a response or revisit record. */
  urls: string[];
}

/** @param days on which pages were fetched, as `yyyy-mm-dd` in UTC: they are part of the keys */
export async function readArchive(
  s3: S3Client,
  bucket: string,
  jobId: string,
  days: Iterable<string>,
): Promise<WarcFile[]> {
  const files: WarcFile[] = [];
  for (const day of days) {
    const Prefix = `warcs/${day.replaceAll("-", "/")}/${jobId}/`;
    let ContinuationToken: string | undefined;
    do {
      const page = await s3.send(new ListObjectsV2Command({ Bucket: bucket, Prefix, ContinuationToken }));
      for (const { Key: key, Size: bytes } of page.Contents ?? []) {
        if (key?.endsWith(".warc.gz")) files.push({ key, bytes: bytes ?? 0, ...(await readRecords(s3, bucket, key)) });
      }
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined);
  }
  return files;
}

async function readRecords(s3: S3Client, bucket: string, key: string): Promise<Pick<WarcFile, "records" | "urls">> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
  if (Body === undefined) throw new Error(`The object ${key} has no body`);
  const records: Record<string, number> = {};
  const urls: string[] = [];
  for await (const record of WARCParser.iterRecords(Body.transformToWebStream())) {
    const type = record.warcType ?? "untyped";
    records[type] = (records[type] ?? 0) + 1;
    const captured = type === "response" || type === "revisit";
    if (captured && record.warcTargetURI) urls.push(record.warcTargetURI);
  }
  return { records, urls };
}

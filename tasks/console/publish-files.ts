/** Brings the files of a build into the bucket that serves them, and takes all of them out again. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  DeleteObjectsCommand,
  type ObjectIdentifier,
  PutObjectCommand,
  paginateListObjectsV2,
  type S3Client,
} from "@aws-sdk/client-s3";

/** One file of a build, as it is to be served. */
export interface PublishedFile {
  key: string;
  contentType: string;
  cacheControl: string;
}

export interface Published {
  s3: S3Client;
  bucket: string;
}

/**
 * Puts the files there, those first that others name. What is neither of this build nor of the one before is deleted:
 * pages that are open still ask for files of theirs.
 * @param folder holds each file by its key
 * @param files the last ones name the first ones
 * @param before keys of the build before
 */
export async function publishFiles(
  to: Published,
  folder: string,
  files: readonly PublishedFile[],
  before: readonly string[],
): Promise<void> {
  for (const { key, contentType, cacheControl } of files) {
    const Body = await readFile(join(folder, key));
    await to.s3.send(
      new PutObjectCommand({
        Bucket: to.bucket,
        Key: key,
        Body,
        ContentType: contentType,
        CacheControl: cacheControl,
      }),
    );
  }
  await deleteOthers(to, new Set([...before, ...files.map(({ key }) => key)]));
}

/** Deletes what is in the bucket and is not to be kept. */
export async function deleteOthers({ s3, bucket }: Published, kept: ReadonlySet<string>): Promise<void> {
  // a page of the list is no more than may be deleted at once
  for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, { Bucket: bucket })) {
    const Objects: ObjectIdentifier[] = Contents.flatMap(({ Key }) =>
      Key === undefined || kept.has(Key) ? [] : [{ Key }],
    );
    if (Objects.length === 0) continue;
    const { Errors = [] } = await s3.send(
      new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } }),
    );
    const [fault] = Errors;
    if (fault !== undefined) throw new Error(`${fault.Key} was not deleted: ${fault.Code} ${fault.Message}`);
  }
}

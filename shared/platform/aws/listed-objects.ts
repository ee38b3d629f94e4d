/** Lists the objects of the bucket, and deletes them one by one. */
import { DeleteObjectCommand, ListObjectsV2Command, type S3Client } from "@aws-sdk/client-s3";

export interface ListedObject {
  key: string;
  bytes: number;
  etag: string;
  writtenAt: Date;
}

export interface ListedObjects {
  /** Up to 1,000 objects below the prefix, in the order of their keys, behind `after`. */
  list(prefix: string, after: string): Promise<ListedObject[]>;
  /** Does nothing where there is no such object. */
  remove(key: string): Promise<void>;
}

export function createListedObjects(s3: S3Client, bucket: string): ListedObjects {
  return {
    async list(prefix, after) {
      const { Contents = [] } = await s3.send(
        new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ...(after === "" ? {} : { StartAfter: after }) }),
      );
      return Contents.map(({ Key = "", Size = 0, ETag = "", LastModified = new Date(0) }) => ({
        key: Key,
        bytes: Size,
        etag: ETag.replaceAll('"', ""),
        writtenAt: LastModified,
      }));
    },
    async remove(key) {
      await s3.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }));
    },
  };
}

/** Puts and gets the objects of the S3 bucket. */
import { GetObjectCommand, NoSuchKey, PutObjectCommand, type S3Client } from "@aws-sdk/client-s3";

export interface ObjectStore {
  put(key: string, body: Uint8Array, contentType: string): Promise<void>;
  /** The whole object, or `length` bytes from `offset`; undefined where there is none. */
  get(key: string, range?: { offset: number; length: number }): Promise<Uint8Array | undefined>;
}

/** Makes the store of one bucket. */
export function createObjectStore(s3: S3Client, bucket: string): ObjectStore {
  return {
    async put(key, body, contentType) {
      await s3.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: body, ContentType: contentType }));
    },
    async get(key, range) {
      const Range = range && `bytes=${range.offset}-${range.offset + range.length - 1}`;
      try {
        const answer = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key, Range }));
        return await answer.Body?.transformToByteArray();
      } catch (error) {
        if (error instanceof NoSuchKey) return undefined;
        throw error;
      }
    },
  };
}

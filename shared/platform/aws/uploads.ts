/** Reads objects that others put into the bucket: what there is, and their bytes as they come. */
import {
  GetObjectCommand,
  HeadObjectCommand,
  NoSuchKey,
  NotFound,
  type S3Client,
  type S3ServiceException,
} from "@aws-sdk/client-s3";
import { PermanentError } from "../errors.ts";

export interface Uploads {
  /** What is known of an object; undefined where there is none. */
  head(key: string): Promise<{ bytes: number; etag: string } | undefined>;
  /**
   * The bytes of an object, from `offset` on: `length` of them, or all to its end.
   * @throws PermanentError where the object is not there, or is another one than `etag` names
   */
  stream(key: string, from: { offset: number; length?: number; etag: string }): AsyncIterable<Uint8Array>;
}

export function createUploads(s3: S3Client, bucket: string): Uploads {
  return {
    async head(key) {
      try {
        const { ContentLength = 0, ETag = "" } = await s3.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
        return { bytes: ContentLength, etag: ETag.replaceAll('"', "") };
      } catch (error) {
        if (error instanceof NotFound || error instanceof NoSuchKey) return undefined;
        throw error;
      }
    },
    async *stream(key, { offset, length, etag }) {
      const end = length === undefined ? "" : offset + length - 1;
      const Range = offset === 0 && end === "" ? undefined : `bytes=${offset}-${end}`;
      try {
        const answer = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key, Range, IfMatch: `"${etag}"` }));
        yield* answer.Body as AsyncIterable<Uint8Array>;
      } catch (error) {
        const status = (error as S3ServiceException).$metadata?.httpStatusCode;
        // from its end on there is nothing
        if (status === 416) return;
        if (error instanceof NoSuchKey) {
          throw new PermanentError(`There is no object ${key}`, { code: "OBJECT_MISSING" });
        }
        if (status !== 412) throw error;
        throw new PermanentError(`The object ${key} was replaced by another`, {
          code: "OBJECT_REPLACED",
          cause: error,
        });
      }
    },
  };
}

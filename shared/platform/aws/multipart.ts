/** Puts objects into the bucket whose size nobody knows before, in the memory of one part. */
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  type S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";

/** S3 takes 10,000 of them: 160 GB. */
const PART_BYTES = 16 * 1024 * 1024;

export interface ObjectWriter {
  write(bytes: Uint8Array): Promise<void>;
  /** The object is there afterwards, and not before. */
  complete(): Promise<void>;
  /** Nothing is left of it. */
  abort(): Promise<void>;
}

export type OpenObjectWriter = (key: string, contentType: string) => Promise<ObjectWriter>;

export function createObjectWriters(s3: S3Client, bucket: string): OpenObjectWriter {
  return async (Key, ContentType) => {
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key, ContentType }));
    const upload = { Bucket: bucket, Key, UploadId };
    const parts: { PartNumber: number; ETag: string | undefined }[] = [];
    const part = Buffer.alloc(PART_BYTES);
    let held = 0;
    const send = async () => {
      const PartNumber = parts.length + 1;
      const { ETag } = await s3.send(new UploadPartCommand({ ...upload, PartNumber, Body: part.subarray(0, held) }));
      parts.push({ PartNumber, ETag });
      held = 0;
    };
    return {
      async write(bytes) {
        for (let at = 0; at < bytes.length; ) {
          const taken = bytes.subarray(at, at + PART_BYTES - held);
          part.set(taken, held);
          held += taken.length;
          at += taken.length;
          if (held === PART_BYTES) await send();
        }
      },
      async complete() {
        if (held > 0 || parts.length === 0) await send();
        await s3.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: parts } }));
      },
      async abort() {
        await s3.send(new AbortMultipartUploadCommand(upload));
      },
    };
  };
}

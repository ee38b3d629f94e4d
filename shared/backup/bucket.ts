/** The objects of a bucket as a back-up reads and writes them: as streams, with what S3 says of them. */
import { createHash } from "node:crypto";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  NoSuchKey,
  NotFound,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { z } from "zod";
import { type BackupStore, FileMissing } from "./backup-store.ts";

/** What is told of an object to those who download it. */
export const objectHeadersSchema = z.strictObject({
  ContentType: z.string().optional(),
  ContentEncoding: z.string().optional(),
  ContentDisposition: z.string().optional(),
  CacheControl: z.string().optional(),
  Metadata: z.record(z.string(), z.string()).optional(),
});
type ObjectHeaders = z.infer<typeof objectHeadersSchema>;

interface FoundObject {
  key: string;
  bytes: number;
  etag: string;
}

export interface Bucket {
  name: string;
  /** In the order of their keys; few are held at once. */
  list(prefix: string): AsyncIterable<FoundObject[]>;
  /** undefined where there is no such object. */
  head(key: string): Promise<FoundObject | undefined>;
  /** undefined where there is no such object. */
  get(key: string): Promise<{ etag: string; headers: ObjectHeaders; body: AsyncIterable<Uint8Array> } | undefined>;
  /** @returns the ETag; the object is there as a whole afterwards, and not before */
  put(key: string, chunks: AsyncIterable<Uint8Array>, headers?: ObjectHeaders): Promise<string>;
  remove(key: string): Promise<void>;
}

/** S3 takes 10,000 parts: 160 GB. A smaller object is put in one call. */
const PART_BYTES = 16 * 1024 * 1024;

export function createBucket(s3: S3Client, name: string): Bucket {
  const Bucket = name;
  return {
    name,
    async *list(Prefix) {
      for (let StartAfter: string | undefined; ; ) {
        const { Contents = [], IsTruncated } = await s3.send(new ListObjectsV2Command({ Bucket, Prefix, StartAfter }));
        yield Contents.map(({ Key = "", Size = 0, ETag }) => ({ key: Key, bytes: Size, etag: bare(ETag) }));
        StartAfter = Contents.at(-1)?.Key;
        if (IsTruncated !== true || StartAfter === undefined) return;
      }
    },
    async head(key) {
      try {
        const { ContentLength = 0, ETag } = await s3.send(new HeadObjectCommand({ Bucket, Key: key }));
        return { key, bytes: ContentLength, etag: bare(ETag) };
      } catch (error) {
        return unlessMissing(error);
      }
    },
    async get(Key) {
      try {
        const answer = await s3.send(new GetObjectCommand({ Bucket, Key }));
        const { ContentType, ContentEncoding, ContentDisposition, CacheControl, Metadata = {}, ETag, Body } = answer;
        return {
          etag: bare(ETag),
          headers: {
            ...{ ContentType, ContentEncoding, ContentDisposition, CacheControl },
            ...(Object.keys(Metadata).length > 0 && { Metadata }),
          },
          body: Body as AsyncIterable<Uint8Array>,
        };
      } catch (error) {
        return unlessMissing(error);
      }
    },
    async put(Key, chunks, headers = {}) {
      const target = { Bucket, Key };
      const parts = partsOf(chunks)[Symbol.asyncIterator]();
      const first = await parts.next();
      const second = first.done ? first : await parts.next();
      if (second.done) {
        const Body = first.done ? new Uint8Array() : first.value;
        return bare((await s3.send(new PutObjectCommand({ ...target, ...headers, Body }))).ETag);
      }
      const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ ...target, ...headers }));
      const upload = { ...target, UploadId };
      try {
        const Parts: { PartNumber: number; ETag: string | undefined }[] = [];
        const send = async (Body: Uint8Array) => {
          const PartNumber = Parts.length + 1;
          const { ETag } = await s3.send(new UploadPartCommand({ ...upload, PartNumber, Body }));
          Parts.push({ PartNumber, ETag });
        };
        await send(first.value as Uint8Array);
        let next: IteratorResult<Uint8Array> = second;
        for (; !next.done; next = await parts.next()) await send(next.value);
        const done = await s3.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
        return bare(done.ETag);
      } catch (error) {
        await s3.send(new AbortMultipartUploadCommand(upload)).catch(() => undefined);
        throw error;
      }
    },
    async remove(Key) {
      await s3.send(new DeleteObjectCommand({ Bucket, Key }));
    },
  };
}

/** The files of a back-up below a prefix. */
export function createBucketStore(bucket: Bucket, prefix: string, address: string): BackupStore {
  const start = prefix === "" ? "" : `${prefix.replace(/\/+$/, "")}/`;
  return {
    address,
    async *read(file) {
      const found = await bucket.get(start + file);
      if (found === undefined) throw new FileMissing(address, file);
      yield* found.body;
    },
    async write(file, chunks) {
      await bucket.put(start + file, chunks);
    },
    size: async (file) => (await bucket.head(start + file))?.bytes,
    async *list(folder) {
      const below = folder === "" ? start : `${start}${folder}/`;
      for await (const page of bucket.list(below)) for (const { key } of page) yield key.slice(start.length);
    },
    remove: (file) => bucket.remove(start + file),
  };
}

/** What S3 answers for an object that `put` has written: the MD5 of its bytes, or that of the MD5s of its parts. */
export function createEtag(): { update(bytes: Uint8Array): void; digest(): string } {
  const done: Buffer[] = [];
  let part = createHash("md5");
  let held = 0;
  const end = () => {
    done.push(part.digest());
    part = createHash("md5");
    held = 0;
  };
  return {
    update(bytes) {
      for (let at = 0; at < bytes.length; ) {
        // a part ends where another byte comes: one that fills the object ends with it
        if (held === PART_BYTES) end();
        const taken = bytes.subarray(at, at + PART_BYTES - held);
        part.update(taken);
        held += taken.length;
        at += taken.length;
      }
    },
    digest() {
      end();
      const [only] = done;
      if (done.length === 1 && only !== undefined) return only.toString("hex");
      return `${createHash("md5").update(Buffer.concat(done)).digest("hex")}-${done.length}`;
    },
  };
}

/** In pieces of `PART_BYTES`, but for the last. */
async function* partsOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      const taken = chunk.subarray(at, at + PART_BYTES - bytes);
      held.push(taken);
      bytes += taken.length;
      at += taken.length;
      if (bytes < PART_BYTES) continue;
      yield Buffer.concat(held);
      held = [];
      bytes = 0;
    }
  }
  if (bytes > 0) yield Buffer.concat(held);
}

const bare = (etag = ""): string => etag.replaceAll('"', "");

function unlessMissing(error: unknown): undefined {
  if (error instanceof NoSuchKey || error instanceof NotFound) return undefined;
  throw error;
}

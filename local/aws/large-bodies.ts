/**
 * Bodies of objects that are too large to be in memory. fauxqs takes and gives buffers: here one says how long it is,
 * and a file has its bytes.
 */
import { createHash, hash } from "node:crypto";
import { closeSync, createReadStream, createWriteStream, openSync, type ReadStream, readSync, statSync } from "node:fs";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";

/** What is no larger is a buffer as any other. */
export const LARGE_BYTES = 1024 ** 2;

interface FilePart {
  file: string;
  start: number;
  /** Behind its last byte. */
  end: number;
}

export interface Spooled {
  file: string;
  bytes: number;
  /** Hex. */
  md5: string;
  /** Base64. */
  sha256: string;
}

const parts = new WeakMap<object, FilePart>();
const spools = new WeakMap<object, Spooled>();

/** @param file that is not changed as long as it is opened */
export function bodyIn(file: string): Buffer {
  return partOf({ file, start: 0, end: statSync(file).size });
}

function partOf(part: FilePart): Buffer {
  const { file, start, end } = part;
  if (end - start <= LARGE_BYTES) return bytesOf(part);
  const body = hollow(end - start, (from, to) => partOf({ file, start: start + from, end: start + to }));
  parts.set(body, part);
  return body;
}

function bytesOf({ file, start, end }: FilePart): Buffer {
  const bytes = Buffer.alloc(end - start);
  const opened = openSync(file, "r");
  try {
    for (let at = 0, read = 1; at < bytes.length && read > 0; at += read) {
      read = readSync(opened, bytes, at, bytes.length - at, start + at);
    }
    return bytes;
  } finally {
    closeSync(opened);
  }
}

/** @param subarray with both of its ends */
const hollow = (length: number, subarray: (from: number, to: number) => Buffer): Buffer =>
  Object.defineProperties(Buffer.alloc(0), { length: { value: length }, subarray: { value: subarray } });

/** The bytes of a body that a file has; undefined of any other. */
export function streamOf(body: unknown): ReadStream | undefined {
  const part = typeof body === "object" && body !== null ? parts.get(body) : undefined;
  if (part === undefined) return undefined;
  const { file, start, end } = part;
  return createReadStream(file, { fd: openSync(file, "r"), start, end: end - 1 });
}

/** Writes a body into a file. */
export async function spool(body: NodeJS.ReadableStream, file: string): Promise<Spooled> {
  const [md5, sha256] = [createHash("md5"), createHash("sha256")];
  let bytes = 0;
  const hashed = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      md5.update(chunk);
      sha256.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  await pipeline(body, hashed, createWriteStream(file));
  return { file, bytes, md5: md5.digest("hex"), sha256: sha256.digest("base64") };
}

/** The body that has been spooled. */
export function bodyOf(spooled: Spooled): Buffer {
  const body = hollow(spooled.bytes, () => {
    throw new Error("A body that was spooled is stored as a whole");
  });
  spools.set(body, spooled);
  return body;
}

export const spooledOf = (body: Uint8Array): Spooled | undefined => spools.get(body);

/** Base64. */
export const sha256Of = (body: Uint8Array): string => spooledOf(body)?.sha256 ?? hash("sha256", body, "base64");

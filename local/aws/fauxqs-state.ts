/** The state of `fauxqs` on disk, such that a `kill -9` at any moment loses nothing and leaves nothing half-written. */
import { AsyncLocalStorage } from "node:async_hooks";
import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { FileS3Persistence, PatchedMessages } from "./fauxqs-patch.ts";
import { bodyIn, type Spooled, spool, spooledOf } from "./large-bodies.ts";

type S3Object = Parameters<FileS3Persistence["upsertObject"]>[1];

/** Messages and queues, in SQLite. */
export class DurableMessages extends PatchedMessages {
  constructor(directory: string) {
    super(directory, join(directory, "fauxqs.db"));
    // the runtime is the only consumer: what it held when it ended is due at once, not after a visibility timeout; and
    // a delivery that was cut off with it says nothing of the message: a few kills must not make a dead letter of it
    this.database.exec(`
      update sqs_messages set receipt_handle = null, visibility_deadline = null,
        approximate_receive_count = min(approximate_receive_count, 1)
      where receipt_handle is not null`);
  }
}

/** Objects as files one can look at: `<key>%.data` and `<key>%.meta.json`; a bare `%` occurs in no encoded key. */
export class DurableObjects extends FileS3Persistence {
  readonly #buckets: string;
  readonly #partial: string;
  readonly #answering = new AsyncLocalStorage<true>();

  constructor(directory: string) {
    super(directory);
    this.#buckets = join(directory, "buckets");
    this.#partial = join(directory, "partial");
    rmSync(this.#partial, { recursive: true, force: true });
    mkdirSync(this.#partial);
  }

  override upsertObject(bucket: string, object: S3Object): void {
    const spooled = spooledOf(object.body);
    // fauxqs has taken it over the body, and keeps what stands here
    if (spooled !== undefined) object.etag = `"${spooled.md5}"`;
    const { body, ...description } = object;
    const { data, meta } = this.#files(bucket, object.key);
    mkdirSync(dirname(data), { recursive: true });
    // the description last: it is what the next start looks for
    if (spooled === undefined) this.#replace(data, body);
    else renameSync(spooled.file, data);
    this.#replace(meta, JSON.stringify(description));
  }

  override readBody(bucket: string, key: string): Buffer {
    const { data } = this.#files(bucket, key);
    return this.#answering.getStore() ? bodyIn(data) : readFileSync(data);
  }

  /**
   * fauxqs would read an object whole for each range of it, a large WARC file for each of its records.
   * @param answer to a GET: what it makes of the object, now or later, is sent by `streamOf`
   */
  answerFromFile(answer: () => void): void {
    this.#answering.run(true, answer);
  }

  /** The body of an object that is put afterwards, or whose file is removed. */
  async spool(body: NodeJS.ReadableStream): Promise<Spooled> {
    const file = join(this.#partial, randomUUID());
    try {
      return await spool(body, file);
    } catch (error) {
      rmSync(file, { force: true });
      throw error;
    }
  }

  override deleteObject(bucket: string, key: string): void {
    const { data, meta } = this.#files(bucket, key);
    rmSync(meta, { force: true });
    rmSync(data, { force: true });
  }

  override renameObject(bucket: string, from: string, to: string): void {
    const meta = JSON.parse(readFileSync(this.#files(bucket, from).meta, "utf8")) as Omit<S3Object, "body">;
    this.upsertObject(bucket, { ...meta, key: to, body: this.readBody(bucket, from) });
    this.deleteObject(bucket, from);
  }

  #replace(path: string, content: Uint8Array | string): void {
    const partial = join(this.#partial, randomUUID());
    writeFileSync(partial, content);
    renameSync(partial, path);
  }

  #files(bucket: string, key: string): { data: string; meta: string } {
    const data = objectFile(dirname(this.#buckets), bucket, key);
    return { data, meta: data.replace(/data$/, "meta.json") };
  }
}

/**
 * Where the bytes of an object lie.
 * @param directory of `DurableObjects`
 */
export function objectFile(directory: string, bucket: string, key: string): string {
  return join(directory, "buckets", bucket, "objects", `${objectPath(key)}%.data`);
}

/** Of a file name on every common file system, with room for the endings. */
const LONGEST_NAME_BYTES = 180;

/** The relative path of an object: its key, where no segment can climb out, hide, or be too long for a file name. */
export function objectPath(key: string): string {
  return key
    .split("/")
    .map((segment) => {
      const safe = segment
        .replace(/[<>:"|?*\\%\p{Cc}]/gu, (char) => encodeURIComponent(char).replace("*", "%2A"))
        .replace(/^\.{0,2}$/, (dots) => `%${dots.length}`);
      if (Buffer.byteLength(safe) <= LONGEST_NAME_BYTES) return safe;
      return `${Buffer.from(safe)
        .subarray(0, 100)
        .toString("latin1")
        .replace(/[^\w.-]/g, "_")}%${sha256(segment)}`;
    })
    .join("/");
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

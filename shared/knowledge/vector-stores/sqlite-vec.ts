/**
 * Vectors in one SQLite file that several threads and processes read and write. The nearest candidates come from a scan
 * of binary codes in memory, which follows the file, and are ranked by one byte for each number; sqlite-vec scores the
 * best exactly.
 */
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { RetryableError } from "../../platform/errors.ts";
import type { EmbedderDescriptor } from "../embedders/embedder.ts";
import { BinaryIndex, binaryCode, type LabelFilter } from "./binary-codes.ts";
import { ByteVectors } from "./byte-vectors.ts";
import { collectionName } from "./collection-name.ts";
import type { PointLabels, VectorFilter, VectorHit, VectorPoint, VectorStore } from "./vector-store.ts";

export interface SqliteVectorOptions {
  path: string;
  descriptor: Pick<EmbedderDescriptor, "model" | "dimension">;
  /** How long a writer waits for another, in ms. */
  busyTimeoutMs?: number;
}

/** Read without a system call and a copy for each vector. */
const MAPPED_BYTES = 2 ** 30;
const BUSY_TIMEOUT_MS = 10_000;
/**
 * Candidates that are ranked by their bytes: this share of all, at least so many and at the most so many, and this many
 * times what is asked for. The nearest 1.6 % by code hold 0.65 of the ten nearest, 3 % hold 0.78, 5 % hold 0.86
 * (measured with the static model over Cranfield's abstracts).
 */
const CANDIDATES_SHARE = 0.05;
const LEAST_CANDIDATES = 2_000;
const MOST_CANDIDATES = 20_000;
const CANDIDATES_PER_HIT = 8;
/** Of these, scored exactly: this many times what is asked for, and at least so many. */
const EXACT_PER_HIT = 2;
const LEAST_EXACT = 50;
const POINTS_PER_READ = 1_000;
/** Codes of deleted points do no harm but take the place of others; above this share they are dropped. */
const DELETED_SHARE = 0.05;

export function createSqliteVectorStore({ path, descriptor, busyTimeoutMs }: SqliteVectorOptions): VectorStore {
  mkdirSync(dirname(path), { recursive: true });
  const db = open(path, busyTimeoutMs ?? BUSY_TIMEOUT_MS);
  const name = collectionName("points", descriptor);
  guarded(() => createTables(db, name));
  const index = new PointIndex(db, name, descriptor.dimension);

  const remove = db.prepare(`delete from "${name}" where chunk_id = ?`);
  const insert = db.prepare(
    `insert into "${name}" (chunk_id, document_id, domain, collection_id, code, tags, language, source, minute)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?) returning id`,
  );
  const insertVector = db.prepare(`insert into "${name}_vectors" (id, vector) values (?, ?)`);
  const following = db.prepare(
    `select chunk_id, document_id, collection_id, domain, source, language, tags
     from "${name}" where chunk_id > ? order by chunk_id limit ?`,
  );
  const removeDocument = db.prepare(`delete from "${name}" where document_id = ?`);
  const readVectors = db.prepare(
    `select p.chunk_id, v.vector from json_each(?) c cross join "${name}" p on p.chunk_id = c.value
       join "${name}_vectors" v on v.id = p.id`,
  );
  // a candidate that was deleted after its code was read has no vector any more
  const score = db.prepare(
    `select p.chunk_id, 1 - distance as score
     from (
       select v.id, vec_distance_cosine(v.vector, ?) as distance
       from json_each(?) c cross join "${name}_vectors" v on v.id = c.value
       order by distance limit ?
     ) nearest join "${name}" p on p.id = nearest.id
     order by distance`,
  );

  return {
    async upsert(points) {
      inTransaction(db, () => {
        for (const { chunkId, vector, payload } of points) {
          if (vector.length !== descriptor.dimension) {
            throw new Error(`A vector of ${vector.length} numbers does not fit a store of ${descriptor.dimension}`);
          }
          remove.run(chunkId);
          const { documentId, domain, collectionId, tags, language, source, crawledAt } = payload;
          const code = bytes(binaryCode(vector));
          const labels = [documentId, domain, collectionId, code, tags.join(" "), language, source];
          const row = insert.get(chunkId, ...labels, minuteOf(crawledAt));
          insertVector.run(Number(row?.["id"]), bytes(vector));
        }
      });
    },
    async search(vector, limit, filter: VectorFilter = {}) {
      const { collectionIds: collections, documentIds: documents, dateFrom, dateTo, ...others } = filter;
      const fromMinute = dateFrom === undefined ? undefined : (minuteOf(dateFrom) ?? undefined);
      const toMinute = dateTo === undefined ? undefined : (minuteOf(dateTo) ?? undefined);
      const wanted = { ...others, collections, documents, fromMinute, toMinute };
      const candidates = (await index.current()).nearest(vector, limit, wanted);
      return guarded(() => {
        const rows = score.all(bytes(vector), JSON.stringify(candidates), limit);
        return rows.map((row): VectorHit => ({ chunkId: String(row["chunk_id"]), score: Number(row["score"]) }));
      });
    },
    async read(chunkIds) {
      const rows = guarded(() => readVectors.all(JSON.stringify(chunkIds)));
      return new Map(
        rows.map((row) => {
          const { buffer } = Uint8Array.from(row["vector"] as Uint8Array);
          return [String(row["chunk_id"]), new Float32Array(buffer)];
        }),
      );
    },
    async deleteDocuments(documentIds) {
      inTransaction(db, () => {
        for (const documentId of documentIds) removeDocument.run(documentId);
      });
    },
    async deletePoints(chunkIds) {
      inTransaction(db, () => {
        for (const chunkId of chunkIds) remove.run(chunkId);
      });
    },
    async scan(after, limit) {
      // the texts of uuids sort as the uuids do
      const rows = guarded(() => following.all(after ?? "", limit + 1));
      const labels = new Map(rows.slice(0, limit).map((row) => [String(row["chunk_id"]), labelsOf(row)]));
      return { ids: [...labels.keys()], labels, more: rows.length > limit };
    },
    async drop() {
      inTransaction(db, () => db.exec(`delete from "${name}"`));
    },
    async isEmpty() {
      return guarded(() => db.prepare(`select 1 from "${name}" limit 1`).get()) === undefined;
    },
    async check() {
      guarded(() => db.prepare(`select 1 from "${name}" limit 1`).get());
    },
    async close() {
      db.close();
    },
  };
}

type Row = Record<string, SQLOutputValue>;

function labelsOf(row: Row): PointLabels {
  const text = (name: string) => (row[name] === null ? undefined : String(row[name]));
  const { source, language, tags } = { source: text("source"), language: text("language"), tags: text("tags") };
  return {
    documentId: String(row["document_id"]),
    collectionId: text("collection_id") ?? null,
    domain: String(row["domain"]),
    ...(source !== undefined && { source: source as VectorPoint["payload"]["source"] }),
    ...(language !== undefined && { language }),
    ...(tags !== undefined && { tags: tags.split(" ").filter((tag) => tag !== "") }),
  };
}

function open(path: string, timeout: number): DatabaseSync {
  const db = new DatabaseSync(path, { allowExtension: true, timeout });
  loadExtension(db);
  db.enableLoadExtension(false);
  guarded(() =>
    db.exec(
      "pragma journal_mode = wal; pragma synchronous = normal; " +
        `pragma foreign_keys = on; pragma mmap_size = ${MAPPED_BYTES}`,
    ),
  );
  return db;
}

/** Looked up when it is needed: a bundle for Lambda holds this file, but the package is not there. */
function loadExtension(db: DatabaseSync): void {
  const { load } = createRequire(import.meta.url)("sqlite-vec") as typeof import("sqlite-vec");
  load(db);
}

function createTables(db: DatabaseSync, name: string): void {
  // ids only ever grow, so that what is new in the file is what lies above the last id read
  db.exec(`
    begin immediate;
    create table if not exists "${name}" (
      id integer primary key autoincrement,
      chunk_id text not null unique,
      document_id text not null,
      domain text not null,
      collection_id text,
      code blob not null,
      tags text,
      language text,
      source text,
      minute integer
    );
    create index if not exists "${name}_document" on "${name}" (document_id);
    create table if not exists "${name}_vectors" (
      id integer primary key references "${name}" (id) on delete cascade,
      vector blob not null
    );
    commit`);
  addLabels(db, name);
}

/** To a file of before: points without a label are found whatever is asked of it. */
function addLabels(db: DatabaseSync, name: string): void {
  inTransaction(db, () => {
    const columns = db.prepare(`select name from pragma_table_info('${name}')`).all();
    const known = new Set(columns.map((column) => column["name"]));
    for (const label of ["tags text", "language text", "source text", "minute integer"]) {
      if (!known.has(label.split(" ")[0] ?? "")) db.exec(`alter table "${name}" add column ${label}`);
    }
  });
}

/** Of a time in ISO 8601; null where it is none. */
function minuteOf(time: string): number | null {
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? null : Math.floor(ms / 60_000);
}

/** Points in memory, numbered from 0 as they were read. */
interface LoadedPoints {
  codes: BinaryIndex;
  bytes: ByteVectors;
  ids: number[];
}

/** What the file holds, in memory, kept up with what other connections write. */
class PointIndex {
  private readonly points: LoadedPoints;
  private following: Promise<void> | null = null;
  private readonly readNew;
  private readonly readIds;
  private readonly countAll;
  private readonly readVersion;
  private readonly readChanges;
  private version = "";

  constructor(db: DatabaseSync, name: string, dimension: number) {
    this.points = { codes: new BinaryIndex(dimension), bytes: new ByteVectors(dimension), ids: [] };
    this.readNew = db.prepare(
      `select p.id, code, domain, collection_id, document_id, tags, language, source, minute, vector
       from "${name}" p join "${name}_vectors" v on v.id = p.id where p.id > ? order by p.id limit ${POINTS_PER_READ}`,
    );
    this.readIds = db.prepare(`select id from "${name}" where id > ? order by id limit ${POINTS_PER_READ}`);
    this.countAll = db.prepare(`select count(*) as points from "${name}"`);
    this.readVersion = db.prepare("pragma data_version");
    this.readChanges = db.prepare("select total_changes() as changes");
  }

  /** With everything that stood in the file when it was asked for. */
  async current(): Promise<this> {
    // what is under way may have begun before the last write
    for (let follows = 0; follows < 2 && this.versionOfFile() !== this.version; follows++) {
      this.following ??= this.follow().finally(() => {
        this.following = null;
      });
      await this.following;
    }
    return this;
  }

  private versionOfFile(): string {
    // the first changes with every commit of another connection, the second with our own writes
    return guarded(() => `${this.readVersion.get()?.["data_version"]} ${this.readChanges.get()?.["changes"]}`);
  }

  private async follow(): Promise<void> {
    const version = this.versionOfFile();
    await this.append(this.points);
    const held = guarded(() => Number(this.countAll.get()?.["points"]));
    if (this.points.ids.length - held > held * DELETED_SHARE) await this.leaveOutDeleted(this.points);
    this.version = version;
  }

  /** Ids of points to score exactly: more than `limit`, in no order. */
  nearest(vector: Float32Array, limit: number, wanted: LabelFilter): number[] {
    const { codes, bytes, ids } = this.points;
    const share = Math.min(MOST_CANDIDATES, Math.ceil(codes.size * CANDIDATES_SHARE));
    const count = Math.max(LEAST_CANDIDATES, share, limit * CANDIDATES_PER_HIT);
    const rows = codes.nearest(binaryCode(vector), count, wanted);
    return bytes.best(vector, rows, Math.max(LEAST_EXACT, limit * EXACT_PER_HIT)).map((row) => ids[row] ?? 0);
  }

  /** Lets others work between two reads: a large file takes seconds. */
  private async append({ codes, bytes, ids }: LoadedPoints): Promise<void> {
    for (let read = POINTS_PER_READ; read === POINTS_PER_READ; ) {
      const rows = guarded(() => this.readNew.all(ids.at(-1) ?? 0));
      for (const { id, code, domain, collection_id, document_id, tags, language, source, minute, vector } of rows) {
        if (!isBytes(code) || !isBytes(vector)) continue;
        codes.add(new Uint32Array(aligned(code)), {
          domain: String(domain),
          collection: textOrNull(collection_id),
          document: String(document_id),
          tags: textOrNull(tags)?.split(" ").filter(Boolean) ?? null,
          language: textOrNull(language),
          source: textOrNull(source),
          minute: minute === null ? null : Number(minute),
        });
        bytes.add(new Float32Array(aligned(vector)));
        ids.push(Number(id));
      }
      read = rows.length;
      if (read === POINTS_PER_READ) await setImmediate();
    }
  }

  /** Only the ids are read for it. */
  private async leaveOutDeleted({ codes, bytes, ids }: LoadedPoints): Promise<void> {
    const rows: number[] = [];
    let row = 0;
    for (let last = 0, read = POINTS_PER_READ; read === POINTS_PER_READ; ) {
      const found = guarded(() => this.readIds.all(last));
      for (const { id } of found) {
        last = Number(id);
        while ((ids[row] ?? last) < last) row++;
        if (ids[row] === last) rows.push(row);
      }
      read = found.length;
      if (read === POINTS_PER_READ) await setImmediate();
    }
    // what was added meanwhile has higher ids, and is appended next time
    codes.keep(rows);
    bytes.keep(rows);
    for (const [at, kept] of rows.entries()) ids[at] = ids[kept] ?? 0;
    ids.length = rows.length;
  }
}

const textOrNull = (value: unknown): string | null => (value === null ? null : String(value));

function isBytes(value: unknown): value is Uint8Array<ArrayBuffer> {
  return value instanceof Uint8Array;
}

/** The bytes in a buffer of their own, which SQLite's mostly are. */
function aligned({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>): ArrayBuffer {
  const whole = byteOffset === 0 && byteLength === buffer.byteLength;
  return whole ? buffer : buffer.slice(byteOffset, byteOffset + byteLength);
}

function inTransaction(db: DatabaseSync, work: () => void): void {
  guarded(() => {
    db.exec("begin immediate");
    try {
      work();
      db.exec("commit");
    } catch (error) {
      db.exec("rollback");
      throw error;
    }
  });
}

const PASSING = new Set([5 /* SQLITE_BUSY */, 6 /* SQLITE_LOCKED */, 10 /* SQLITE_IOERR */, 13 /* SQLITE_FULL */]);

/** Lets a transient error of SQLite be tried again by the queue. */
function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const code = cause instanceof Error && "errcode" in cause ? Number(cause.errcode) : undefined;
    if (code !== undefined && PASSING.has(code & 0xff)) {
      throw new RetryableError("The vector file is busy or its disk full", { code: "VECTOR_STORE_UNAVAILABLE", cause });
    }
    throw cause;
  }
}

function bytes(values: Float32Array | Uint32Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

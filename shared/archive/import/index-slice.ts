/**
 * Indexes one slice of a WARC object: captures go to ingest in batches, and with each batch the import's row is moved
 * on, in one transaction, to where the next one begins. Whoever stops in between begins there again.
 */
import type { Capture } from "../../capture/capture.ts";
import { writeCaptureBatch } from "../../capture/capture-batch.ts";
import { addCounts, failJob, lockJob, markRunning } from "../../crawl/jobs/lifecycle.ts";
import type { OpenObjectWriter } from "../../platform/aws/multipart.ts";
import type { ObjectStore } from "../../platform/aws/objects.ts";
import type { Uploads } from "../../platform/aws/uploads.ts";
import { inTransaction, type Transaction } from "../../platform/database/database.ts";
import { rowsOf } from "../../platform/database/rows.ts";
import { PermanentError } from "../../platform/errors.ts";
import type { Logger } from "../../platform/observability/log.ts";
import type { PackageSignature } from "../wacz-file/signed-data.ts";
import { shown } from "../wacz-file/zip-directory.ts";
import type { Position } from "../warc-file/decoded-bytes.ts";
import { OtherMethods, REQUEST_BYTES } from "../warc-file/other-methods.ts";
import { readWarcFile, type WarcRecord } from "../warc-file/read-warc-file.ts";
import type { RecordHead } from "../warc-file/record-head.ts";
import { captureOf, keptBytes, LongBlock, type RecordCapture, typeOf } from "./capture-of-record.ts";
import { capturesMessage } from "./captures-message.ts";
import { type ImportFile, type ImportPart, openImportFile, openPart, type PartSource } from "./import-file.ts";
import { type ImportsDependencies, sendImport } from "./imports.ts";
import { settleImport } from "./settle-import.ts";

export interface IndexerDependencies extends ImportsDependencies {
  objects: Pick<ObjectStore, "put" | "get">;
  uploads: Uploads;
  openWriter: OpenObjectWriter;
  log: Logger;
}

/** Captures of a batch, and characters of their texts: what ingest stores in a second or two. */
const BATCH_CAPTURES = 50;
const BATCH_CHARS = 2_000_000;
/** Records without any capture that are passed over before the row is moved on. */
const BATCH_RECORDS = 5000;
/** Kept of a function's time for the last batch. */
const RESERVE_MS = 45_000;
const LEASE_S = 300;
/** Complaints that are kept; all are counted. */
const KEPT_COMPLAINTS = 1000;
/** Slices that came to nothing, one after the other: then the record at which they stop is taken by itself. */
const CAREFUL_AFTER = 3;
const GIVE_UP_AFTER = 8;

/** A place in one of the WARC files of a WACZ file; of a WARC file by itself, the part is 0. */
interface PartPosition extends Position {
  part: number;
}

interface Slice extends PartPosition {
  id: string;
  jobId: string;
  key: string;
  etag: string;
  bytes: number;
  attempts: number;
  complaints: number;
}

/** Of the file, not of a record. */
interface FileFault {
  code: string;
  message: string;
  /** In the object. */
  offset: number;
}

interface Complaint extends FileFault {
  record_id: string | null;
  url: string | null;
}

interface OpenPart extends PartSource, ImportPart {
  /** Where this slice goes on in it. */
  from: Position | undefined;
}

interface Batch {
  captures: Capture[];
  chars: number;
  records: Record<string, number>;
  seen: number;
  complaints: Complaint[];
  /** What is known of it anew. */
  signature: PackageSignature | null;
}

/** @param remainingMs until the function is stopped */
export async function indexSlice(
  dependencies: IndexerDependencies,
  importId: string,
  remainingMs: () => number,
): Promise<void> {
  const { log } = dependencies;
  const slice = await takeSlice(dependencies, importId);
  if (slice === undefined) return;
  if (slice.attempts > GIVE_UP_AFTER) return await failImport(dependencies, slice, STOPPED);
  try {
    const end = await new SliceIndexer(dependencies, slice, remainingMs).run();
    log.info("a slice of a WARC file was indexed", { import_id: importId, job_id: slice.jobId, end });
    if (end !== "more") return;
    await releaseLease(dependencies, importId);
    await sendImport(dependencies.queues, importId);
  } catch (error) {
    if (error instanceof PermanentError)
      return await failImport(dependencies, slice, `${error.code}: ${error.message}`);
    await releaseLease(dependencies, importId);
    throw error;
  }
}

async function releaseLease({ sql }: IndexerDependencies, importId: string): Promise<void> {
  await sql`update warc_imports set lease_until = null where id = ${importId}`;
}

const STOPPED = "INDEXING_STOPS: the function stopped at this place again and again; its log says why";

/** Takes the lease of an import that is to go on; undefined where it has ended, or another works on it. */
async function takeSlice({ sql }: IndexerDependencies, importId: string): Promise<Slice | undefined> {
  const [slice] = await sql<Slice[]>`
    update warc_imports set status = 'running', attempts = attempts + 1, updated_at = now(),
      lease_until = now() + ${LEASE_S} * interval '1 second'
    where id = ${importId} and status in ('pending', 'running') and (lease_until is null or lease_until < now())
    returning id, job_id as "jobId", object_key as key, etag, bytes, next_part as part, next_offset as offset,
      next_inner as inner, attempts, complaints`;
  return slice;
}

class SliceIndexer {
  readonly #dependencies: IndexerDependencies;
  readonly #slice: Slice;
  readonly #remainingMs: () => number;
  /** The first record is the one at which others have stopped. */
  #careful: boolean;
  #batch: Batch = emptyBatch();
  #methods = new OtherMethods();
  #file: ImportFile | undefined;
  #part: OpenPart | undefined;
  #long: LongBlock | undefined;
  #pending: (RecordCapture & { record: WarcRecord }) | undefined;

  constructor(dependencies: IndexerDependencies, slice: Slice, remainingMs: () => number) {
    this.#dependencies = dependencies;
    this.#slice = slice;
    this.#remainingMs = remainingMs;
    this.#careful = slice.attempts > CAREFUL_AFTER;
  }

  /** @returns `lost` where another has moved the import on */
  async run(): Promise<"done" | "more" | "lost"> {
    const slice = this.#slice;
    const file = await openImportFile(this.#dependencies, slice);
    this.#file = file;
    const isBegin = slice.part === 0 && slice.offset === 0 && slice.inner === 0;
    if (isBegin) {
      const complaints = await file.complaints(() => this.#hasTime());
      for (const complaint of complaints) this.#complain(complaint);
      const broken = complaints.find(({ code }) => UNSIGNED_FAULTS.has(code));
      this.#batch.signature = broken ? brokenBy(file.signature, broken.message) : file.signature;
    }
    for (const entry of file.parts.slice(slice.part)) {
      const part = await this.#openPart(entry);
      if (part === undefined) continue;
      const stopped = await this.#indexPart(part);
      if (stopped !== undefined) return stopped;
    }
    const end = { part: file.parts.length, offset: 0, inner: 0 };
    return (await this.#commit(end, true)) ? "done" : "lost";
  }

  #hasTime(): boolean {
    return !this.#careful && this.#remainingMs() > RESERVE_MS;
  }

  /** Begins with a part; undefined where there is nothing to read. */
  async #openPart(entry: ImportPart): Promise<OpenPart | undefined> {
    const { part, offset, inner } = this.#slice;
    const isBegun = entry.index === part && (offset > 0 || inner > 0);
    const opened = await openPart(this.#dependencies, this.#slice, entry);
    if ("fault" in opened) {
      this.#complain(opened.fault);
      return undefined;
    }
    const fault = isBegun ? undefined : await opened.check(() => this.#hasTime());
    if (fault !== undefined) {
      this.#complain(fault);
      if (UNSIGNED_FAULTS.has(fault.code)) this.#batch.signature = brokenBy(this.#file?.signature, fault.message);
    }
    return { ...opened, ...entry, from: isBegun ? { offset, inner } : undefined };
  }

  /** @returns how the slice ends, where it ends within the part */
  async #indexPart(part: OpenPart): Promise<"more" | "lost" | undefined> {
    this.#part = part;
    const { index, from } = part;
    const events = readWarcFile(part.open, {
      ...(from && { from }),
      keep: keptBytes,
      observe: (head) => this.#observe(head),
    });
    let next: Position = from ?? { offset: 0, inner: 0 };
    for await (const event of events) {
      if (event.kind === "complaint") {
        this.#takePending();
        this.#complainOf(event, event.offset);
        next = event.next;
      } else {
        // a request may stand behind its answer, which waits for it
        const isOther = this.#methods.add(event);
        this.#takePending();
        await this.#read(event, isOther);
        if (this.#careful) this.#takePending();
        next = this.#pending === undefined ? event.next : startOf(event);
      }
      if (!this.#isFull()) continue;
      if (!(await this.#commit({ part: index, ...next }, false))) return "lost";
      if (this.#remainingMs() < RESERVE_MS) return "more";
    }
    this.#takePending();
    this.#methods = new OtherMethods();
    return undefined;
  }

  #observe(head: RecordHead): ((bytes: Buffer) => void) | undefined {
    const kept = keptBytes(head);
    this.#long = kept > REQUEST_BYTES && head.blockLength > kept ? new LongBlock(head) : undefined;
    return this.#long && ((bytes) => this.#long?.add(bytes));
  }

  /**
   * Counts a record, or has it wait where it is a capture whose request may come, or a request that asks for no page
   * and whose answer may come: the next slice then begins with it, and knows whose answer that is.
   */
  async #read(record: WarcRecord, isOther: boolean): Promise<void> {
    const { key, base } = this.#part as OpenPart;
    const options = { key, base, long: this.#long, withText: !this.#careful, now: Date.now() };
    const { capture, objections } = await captureOf(record, options);
    this.#pending = { record, objections, capture: capture && (this.#file?.pages?.complete(capture) ?? capture) };
    const isWaiting = capture === null ? isOther : this.#methods.of(record) === undefined;
    if (!isWaiting) this.#takePending();
  }

  #takePending(): void {
    if (this.#pending === undefined) return;
    const { record, capture, objections } = this.#pending;
    const { head, place } = record;
    this.#pending = undefined;
    const type = typeOf(head) || "unknown";
    this.#batch.records[type] = (this.#batch.records[type] ?? 0) + 1;
    this.#batch.seen += 1;
    for (const objection of objections) this.#complainOf(objection, place.offset, head);
    if (capture === null) return;
    const method = this.#methods.of(record);
    if (method !== undefined) {
      const message = `it answers a ${method} request, and is no page that its URL leads to`;
      this.#complainOf({ code: "METHOD_NOT_GET", message }, place.offset, head);
      return;
    }
    this.#batch.captures.push(capture);
    this.#batch.chars += (capture.extraction?.text.length ?? 0) + (capture.extraction?.markdown.length ?? 0);
  }

  /** @param offset from the start of the present part */
  #complainOf({ code, message }: { code: string; message: string }, offset: number, head?: RecordHead): void {
    const field = (name: string): string | null => head?.fields.get(name)?.slice(0, 2000) ?? null;
    const part = this.#part;
    const url = withoutPassword(field("warc-target-uri"));
    const where = part?.entry ? `${shown(part.entry.name)} at ${offset}: ` : "";
    const place = part?.placeOf(offset) ?? offset;
    this.#complain({ code, message: `${where}${message}`, offset: place, record_id: field("warc-record-id"), url });
  }

  #complain({ record_id = null, url = null, ...complaint }: Partial<Complaint> & FileFault): void {
    this.#batch.complaints.push({ ...complaint, record_id, url });
  }

  #isFull(): boolean {
    const { captures, chars, seen } = this.#batch;
    const most = this.#careful ? 1 : BATCH_CAPTURES;
    return captures.length >= most || chars >= BATCH_CHARS || seen >= BATCH_RECORDS || this.#remainingMs() < RESERVE_MS;
  }

  /** @returns false where another has moved the import on: what was read since then is theirs */
  async #commit(next: PartPosition, atEnd: boolean): Promise<boolean> {
    const { sql, objects, queues } = this.#dependencies;
    const slice = this.#slice;
    const batch = this.#batch;
    const count = batch.captures.length;
    // no time was left to come to anything: the attempt counts
    if (!atEnd && next.part === slice.part && next.offset === slice.offset && next.inner === slice.inner) return true;
    const batchKey = count === 0 ? null : await writeCaptureBatch(objects, slice.jobId, batch.captures);
    const moved = await inTransaction(sql, async (tx) => {
      if (!(await this.#moveOn(tx, next, atEnd))) return false;
      if (batchKey !== null) {
        await tx`
          insert into warc_import_batches (batch_key, first, last, import_id) values (${batchKey}, 0, ${count}, ${slice.id})`;
      }
      await insertComplaints(tx, slice, batch.complaints);
      await this.#countInJob(tx, count, atEnd);
      return true;
    });
    if (!moved) return false;
    if (batchKey !== null) {
      await queues.send("captures", capturesMessage({ jobId: slice.jobId, batchKey, first: 0, last: count }));
    }
    Object.assign(slice, next, { complaints: slice.complaints + batch.complaints.length });
    this.#batch = emptyBatch();
    this.#careful = false;
    return true;
  }

  async #moveOn(tx: Transaction, next: PartPosition, atEnd: boolean): Promise<boolean> {
    const { id, part, offset, inner } = this.#slice;
    const { records, captures, complaints, signature } = this.#batch;
    const indexed = this.#part?.placeOf(next.offset) ?? 0;
    const { count } = await tx`
      update warc_imports i set next_part = ${next.part}, next_offset = ${next.offset}, next_inner = ${next.inner},
        indexed_bytes = greatest(indexed_bytes, ${indexed}),
        signature = coalesce(${signature ? JSON.stringify(signature) : null}::text::jsonb, i.signature),
        status = ${atEnd ? "completed" : "running"}, completed_at = case when ${atEnd} then now() end,
        captures = captures + ${captures.length}, complaints = complaints + ${complaints.length},
        attempts = 0, updated_at = now(),
        lease_until = case when not ${atEnd} then now() + ${LEASE_S} * interval '1 second' end,
        records = i.records || coalesce((
          select jsonb_object_agg(key, value::int + coalesce((i.records->>key)::int, 0))
          from jsonb_each_text(${JSON.stringify(records)}::text::jsonb)), '{}')
      where id = ${id} and status = 'running' and next_part = ${part} and next_offset = ${offset} and next_inner = ${inner}`;
    return count === 1;
  }

  async #countInJob(tx: Transaction, captures: number, atEnd: boolean): Promise<void> {
    const { log } = this.#dependencies;
    const job = await lockJob(tx, this.#slice.jobId);
    if (job === undefined) throw new PermanentError("The job of the import was removed", { code: "JOB_MISSING" });
    if (job.cancelRequested && !atEnd) throw new PermanentError("The job was cancelled", { code: "CANCELLED" });
    await markRunning(tx, job, new Date());
    // the file counts as one until it has been read
    const change = captures - (atEnd ? 1 : 0);
    await addCounts(tx, job, { discovered: change, open: change });
    if (!atEnd) return;
    const [row] = await tx<{ records: Record<string, number> }[]>`
      select records from warc_imports where id = ${this.#slice.id}`;
    if (Object.keys(row?.records ?? {}).length > 0) await settleImport(tx, job, log);
    else await failAtEnd(tx, this.#slice, log);
  }
}

async function failAtEnd(tx: Transaction, { id, jobId }: Slice, log: Logger): Promise<void> {
  const [first] = await tx<{ code: string; message: string }[]>`
    select code, message from warc_complaints where import_id = ${id} order by code in ('NOT_A_WARC', 'NO_WARC_IN_WACZ') desc, seq limit 1`;
  const error = first === undefined ? "NOT_A_WARC: it holds no record" : `${first.code}: ${first.message}`;
  await tx`update warc_imports set status = 'failed', error = ${error} where id = ${id}`;
  const job = await lockJob(tx, jobId);
  if (job !== undefined) await failJob(tx, log, job, error);
}

/** What was indexed before stays. */
async function failImport({ sql, log }: IndexerDependencies, slice: Slice, error: string): Promise<void> {
  log.error("a WARC file cannot be indexed any further", { import_id: slice.id, job_id: slice.jobId, reason: error });
  await inTransaction(sql, async (tx) => {
    const { count } = await tx`
      update warc_imports set status = 'failed', error = ${error}, lease_until = null, completed_at = now(), updated_at = now()
      where id = ${slice.id} and status in ('pending', 'running')`;
    const job = await lockJob(tx, slice.jobId);
    if (count === 0 || job === undefined) return;
    await addCounts(tx, job, { discovered: -1, open: -1 });
    if (job.counts.discovered > 0 || job.cancelRequested) await settleImport(tx, job, log);
    else await failJob(tx, log, job, error);
  });
}

async function insertComplaints(tx: Transaction, slice: Slice, complaints: readonly Complaint[]): Promise<void> {
  const room = Math.max(0, KEPT_COMPLAINTS - slice.complaints);
  const rows = complaints.slice(0, room).map((each, index) => ({ ...each, seq: slice.complaints + index }));
  if (rows.length === 0) return;
  await tx`
    insert into warc_complaints (import_id, seq, code, message, byte_offset, record_id, url)
    select ${slice.id}, seq, code, message, "offset", record_id, url
    from json_to_recordset(${rowsOf(rows)}::text::json)
      as r (seq int, code text, message text, "offset" bigint, record_id text, url text)`;
}

const startOf = ({ place: { offset, inner = 0 } }: WarcRecord): Position => ({ offset, inner });

const emptyBatch = (): Batch => ({ captures: [], chars: 0, records: {}, seen: 0, complaints: [], signature: null });

/** What is not as it was signed, though the signature is right. */
const UNSIGNED_FAULTS = new Set(["HASH_MISMATCH", "RESOURCE_MISSING", "RESOURCE_UNLISTED", "PACKAGE_INVALID"]);

function brokenBy(signature: PackageSignature | null | undefined, reason: string): PackageSignature | null {
  if (signature === undefined || signature === null || signature.outcome === "unsigned") return signature ?? null;
  return { ...signature, outcome: "invalid", reason };
}

const withoutPassword = (url: string | null): string | null => url?.replace(/\/\/[^/?#]*@/, "//…@") ?? null;

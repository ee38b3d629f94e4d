/** An archive of crawled WARC files, without the crawl: what they hold is known, and real runs work on them. */
import { randomUUID } from "node:crypto";
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from "@aws-sdk/client-s3";
import { type RunnerDependencies, runSlice } from "../../../shared/archive/files/run-slice.ts";
import { createRun, newRunSchema, readFaults, readRun } from "../../../shared/archive/files/runs.ts";
import { warcRunTaskSchema } from "../../../shared/archive/files/task.ts";
import { readPayload } from "../../../shared/archive/replay/payload.ts";
import { labelledDigest } from "../../../shared/capture/digest.ts";
import { readWarcRecord } from "../../../shared/capture/warc-reader.ts";
import { requestRecord, responseRecord, revisitRecord } from "../../../shared/capture/warc-record.ts";
import { createWarcSegment, warcSegmentKey } from "../../../shared/capture/warc-segment.ts";
import { createListedObjects } from "../../../shared/platform/aws/listed-objects.ts";
import { createObjectWriters } from "../../../shared/platform/aws/multipart.ts";
import { createUploads } from "../../../shared/platform/aws/uploads.ts";
import { uuidv7 } from "../../../shared/platform/ids.ts";
import { insertTestCaptures } from "../functions/cdx-api/captured.ts";
import { archiveSetup } from "./archive-setup.ts";

const HOUR = 3_600_000;
const TIME = "2026-01-02T03:04:05.678Z";

export async function warcFileSetup() {
  const setup = await archiveSetup();
  const { sql, aws } = setup;
  const dependencies: RunnerDependencies & typeof setup.dependencies = {
    ...setup.dependencies,
    objects: { ...setup.dependencies.objects, ...createListedObjects(aws.s3, aws.bucket) },
    uploads: createUploads(aws.s3, aws.bucket),
    openWriter: createObjectWriters(aws.s3, aws.bucket),
    limits: { targetBytes: 1_000_000, mergedMs: HOUR, unusedMs: HOUR },
  };
  const pointer = async (id: number) => {
    const [row] = await sql<{ key: string; offset: number; length: number; recordId: string }[]>`
      select warc_key as key, warc_offset as "offset", warc_length as "length", warc_record_id as "recordId"
      from captures where id = ${id}`;
    return row;
  };
  return {
    ...setup,
    dependencies,
    pointer,
    /**
     * Puts a WARC file as a crawl does, with a page for each body, and a capture for each page.
     * @param original a capture that the pages repeat as revisits
     * @returns the file's key, and the captures' ids
     */
    async crawled(
      bodies: readonly string[],
      { original = null, stored = true }: { original?: number | null; stored?: boolean } = {},
    ) {
      const jobId = uuidv7();
      const key = warcSegmentKey(jobId, randomUUID(), 1, 1, Date.parse(TIME));
      const segment = createWarcSegment(key, { software: "test" }, Date.parse(TIME));
      const ids: number[] = [];
      const of = original === null ? undefined : await pointer(original);
      const pointers = [];
      for (const [index, body] of bodies.entries()) {
        const url = `https://example.org/${index}`;
        const options = { url, date: Date.parse(TIME), recordId: randomUUID() };
        const head = { startLine: "HTTP/1.1 200 OK", headers: [["Content-Type", "text/html"]] as [string, string][] };
        const payload = Buffer.from(body);
        const digest = labelledDigest(payload);
        const request = { startLine: "GET / HTTP/1.1", headers: [], body: Buffer.alloc(0) };
        const asked = {
          recordId: randomUUID(),
          member: await requestRecord(request, { ...options, recordId: randomUUID() }),
        };
        const member =
          of === undefined
            ? await responseRecord({ ...head, body: payload }, digest, options)
            : await revisitRecord(
                { ...head, body: payload },
                { profile: "identical-payload-digest", url, date: TIME, recordId: of.recordId, payloadDigest: digest },
                options,
              );
        pointers.push(segment.append([asked, { recordId: options.recordId, member }])[1]);
      }
      await aws.s3.send(new PutObjectCommand({ Bucket: aws.bucket, Key: key, Body: segment.contents() }));
      if (!stored) return { key, ids, jobId };
      ids.push(
        ...(await insertTestCaptures(
          sql,
          bodies.map((_, index) => ({
            url: `https://example.org/${index}`,
            time: TIME,
            ...(original === null ? {} : { revisitOf: original }),
          })),
          jobId,
        )),
      );
      for (const [index, id] of ids.entries()) {
        const place = pointers[index];
        await sql`
          update captures set warc_key = ${key}, warc_offset = ${place?.offset ?? 0}, warc_length = ${place?.length ?? 0},
            warc_record_id = ${place?.recordId ?? ""} where id = ${id}`;
      }
      return { key, ids, jobId };
    },
    async bodyOf(id: number): Promise<string | undefined> {
      const payload = await readPayload(dependencies, id);
      return payload?.body.toString();
    },
    /** Whether the capture's own record lies where it points, whatever it repeats. */
    async hasRecord(id: number): Promise<boolean> {
      const place = await pointer(id);
      if (place === undefined) return false;
      const [{ coding } = { coding: null }] = await sql<{ coding: "none" | null }[]>`
        select warc_coding as coding from captures where id = ${id}`;
      const record = await readWarcRecord(dependencies.objects, { ...place, ...(coding === null ? {} : { coding }) });
      return record.warcHeaders.get("warc-record-id")?.includes(place.recordId) === true;
    },
    /** Asks for a run, and does it to its end. */
    async run(request: object, using: Partial<RunnerDependencies> = {}) {
      const all = { ...dependencies, ...using };
      const { id } = await createRun(dependencies, newRunSchema.parse(request), null);
      for (;;) {
        const messages = await aws.receive("warc-runs");
        if (messages.length === 0) break;
        for (const each of messages) await runSlice(all, warcRunTaskSchema.parse(each).runId, () => HOUR);
      }
      const run = await readRun(sql, id);
      return { ...run, found: await readFaults(sql, id, 1000) };
    },
    /** All waiting times are over. */
    async later(): Promise<void> {
      await sql`
        update warc_files set merged_at = merged_at - interval '1 year', unused_since = unused_since - interval '1 year',
          written_at = written_at - interval '1 year'`;
    },
    async objects(prefix = "warcs/"): Promise<string[]> {
      const { Contents = [] } = await aws.s3.send(new ListObjectsV2Command({ Bucket: aws.bucket, Prefix: prefix }));
      return Contents.map(({ Key = "" }) => Key);
    },
    async bytes(key: string): Promise<Buffer> {
      const { Body } = await aws.s3.send(new GetObjectCommand({ Bucket: aws.bucket, Key: key }));
      return Buffer.from((await Body?.transformToByteArray()) as Uint8Array);
    },
    async put(key: string, body: Buffer): Promise<void> {
      await aws.s3.send(new PutObjectCommand({ Bucket: aws.bucket, Key: key, Body: body }));
    },
  };
}

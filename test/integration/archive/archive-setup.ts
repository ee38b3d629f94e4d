/** An archive with WARC files in it, and the environment in which handlers find it. */
import { createHash } from "node:crypto";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { handleImportMessage } from "../../../shared/archive/import/handle-message.ts";
import { type ImportView, readComplaints, readImport } from "../../../shared/archive/import/imports.ts";
import { importMessageSchema } from "../../../shared/archive/import/task.ts";
import { capturesMessageSchema } from "../../../shared/capture/capture-batch.ts";
import { ingestBatch } from "../../../shared/crawl/ingest/ingest-batch.ts";
import { createObjectWriters } from "../../../shared/platform/aws/multipart.ts";
import { createUploads } from "../../../shared/platform/aws/uploads.ts";
import { crawlSetup } from "../crawl/crawl-setup.ts";

const HOUR = 3_600_000;

export type ArchiveSetup = Awaited<ReturnType<typeof archiveSetup>>;

export async function archiveSetup(env: Record<string, string> = {}) {
  const setup = await crawlSetup();
  const { aws, sql, databaseUrl } = setup;
  Object.assign(process.env, aws.env, { DATABASE__POSTGRES_URL: databaseUrl, LOG_LEVEL: "error" }, env);
  const dependencies = {
    ...setup.dependencies,
    uploads: createUploads(aws.s3, aws.bucket),
    openWriter: createObjectWriters(aws.s3, aws.bucket),
  };
  let files = 0;
  return {
    ...setup,
    dependencies,
    /** Uploads a file, and handles what is on the queues until it is indexed; `remainingMs` is asked by each slice. */
    async importFile(file: Buffer, name = "file.warc", remainingMs: () => number = () => HOUR) {
      const key = `incoming/${++files}/${name}`;
      await aws.s3.send(new PutObjectCommand({ Bucket: aws.bucket, Key: key, Body: file }));
      const object = { key, size: file.length, eTag: createHash("md5").update(file).digest("hex") };
      const message = importMessageSchema.parse({ Records: [{ s3: { object } }] });
      await handleImportMessage(dependencies, message, remainingMs);
      for (;;) {
        const imports = await aws.receive("imports");
        for (const each of imports) {
          await handleImportMessage(dependencies, importMessageSchema.parse(each), remainingMs);
        }
        const captures = await aws.receive("captures");
        for (const each of captures) await ingestBatch(dependencies, capturesMessageSchema.parse(each));
        if (imports.length + captures.length === 0) break;
      }
      const [row] = await sql<{ id: string }[]>`select id from warc_imports where object_key = ${key}`;
      const view = (await readImport(sql, row?.id ?? "")) as ImportView;
      return { key, view, complaints: await readComplaints(sql, view.id, 1000) };
    },
    /** @returns the number of the job that has imported them */
    async importRecords(records: readonly Buffer[]): Promise<number> {
      const { view } = await this.importFile(Buffer.concat(records));
      const [job] = await sql<{ number: number }[]>`select number from jobs where id = ${view.jobId}`;
      return job?.number ?? 0;
    },
    /** Id of the newest capture of a URL. */
    async captureOf(url: string): Promise<number> {
      const [row] = await sql<{ id: number }[]>`
        select id from captures where final_url = ${url} order by fetched_at desc, id desc limit 1`;
      return row?.id ?? 0;
    },
  };
}

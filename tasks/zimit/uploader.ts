/**
 * Stands beside the engine of a task, on a shared volume: brings it what was ordered, for which the engine waits, and
 * takes what it leaves to the bucket as it appears. Ends once the engine has gone and all is uploaded.
 */
import { S3Client } from "@aws-sdk/client-s3";
import { createObjectWriters } from "../../shared/platform/aws/multipart.ts";
import { createObjectStore } from "../../shared/platform/aws/objects.ts";
import { prepareRun } from "./prepare-run.ts";
import { uploadRun } from "./upload-run.ts";

const { STORAGE__BUCKET: bucket = "", RUN_PREFIX: prefix = "", OUTPUT: output = "", UPLOAD_EVERY_MS } = process.env;
const s3 = new S3Client({ forcePathStyle: process.env["AWS_ENDPOINT_URL_S3"] !== undefined });
const dependencies = {
  objects: createObjectStore(s3, bucket),
  openWriter: createObjectWriters(s3, bucket),
  log: (message: string, more: Record<string, unknown> = {}) =>
    void process.stdout.write(`${JSON.stringify({ message, prefix, ...more })}\n`),
};
const EVERY_MS = 10_000;

// the engine has two minutes to end as well, and what it leaves by then is taken along
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => undefined);
await prepareRun(dependencies, { prefix, output });
await uploadRun(dependencies, { prefix, output, everyMs: Number(UPLOAD_EVERY_MS ?? EVERY_MS) });

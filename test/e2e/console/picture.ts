/** Gives a capture a picture, as it gets one where it is the entry page of an edition. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import postgres from "postgres";
import type { RunningInstance } from "../../services/instance.ts";

/** @param picture WebP */
export async function givePicture(instance: RunningInstance, captureId: number, picture: Uint8Array): Promise<void> {
  const { env } = JSON.parse(await readFile(join(instance.home, "runtime.json"), "utf8")) as {
    env: Record<string, string>;
  };
  const key = `previews/pier/${captureId}/en.webp`;
  const s3 = new S3Client({
    endpoint: env["AWS_ENDPOINT_URL_S3"] ?? "",
    region: env["AWS_REGION"] ?? "us-east-1",
    forcePathStyle: true,
    credentials: { accessKeyId: env["AWS_ACCESS_KEY_ID"] ?? "x", secretAccessKey: env["AWS_SECRET_ACCESS_KEY"] ?? "x" },
  });
  await s3.send(
    new PutObjectCommand({ Bucket: env["STORAGE__BUCKET"] ?? "", Key: key, Body: picture, ContentType: "image/webp" }),
  );
  s3.destroy();
  const sql = postgres(instance.postgresUrl, { max: 1, onnotice: () => {} });
  await sql`
    with source as (
      insert into sources (code, name, name_template, seeds, engine, enabled)
      values ('pier', 'Pier', 'pier', '{}', 'native', false) returning code
    ), job as (
      insert into archive_jobs (source_code, name, output_dir, engine, status, config)
      select code, 'pier', 'archive-jobs/pier', 'native', 'indexed', '{}' from source returning id
    )
    insert into edition_previews
      (archive_job_id, language, capture_id, status, object_key, content_type, bytes, sha256, taken_at)
    select id, 'en', ${captureId}, 'taken', ${key}, 'image/webp', ${picture.length},
      ${createHash("sha256").update(picture).digest("hex")}, now() from job`;
  await sql.end();
}

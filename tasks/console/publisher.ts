/**
 * A custom resource of CloudFormation: the files of the console in their bucket. They come with the function's own code;
 * CloudFormation calls it when they are to be there, when they have changed, and when they are to go.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { S3Client } from "@aws-sdk/client-s3";
import type { CloudFormationCustomResourceEvent } from "aws-lambda";
import { deleteOthers, type PublishedFile, publishFiles } from "./publish-files.ts";

/** What the stack says of the resource, as CloudFormation hands it on. */
interface Wanted {
  Bucket: string;
  /** Keys of the build's files. */
  Keys: string[];
}

const FOLDER = import.meta.dirname;
const s3 = new S3Client({ forcePathStyle: process.env["AWS_ENDPOINT_URL_S3"] !== undefined });

/** Tells CloudFormation in any case, which waits for it otherwise. */
export async function handler(event: CloudFormationCustomResourceEvent): Promise<void> {
  const { Bucket: bucket, Keys: keys } = event.ResourceProperties as unknown as Wanted;
  try {
    if (event.RequestType === "Delete") await deleteOthers({ s3, bucket }, new Set());
    else await publish(event, bucket);
    await answer(event, bucket, { Status: "SUCCESS" });
  } catch (error) {
    process.stdout.write(`${JSON.stringify({ message: "publishing failed", keys, error: String(error) })}\n`);
    await answer(event, bucket, { Status: "FAILED", Reason: String(error) });
  }
}

async function publish(event: CloudFormationCustomResourceEvent, bucket: string): Promise<void> {
  const before = event.RequestType === "Update" ? (event.OldResourceProperties as Partial<Wanted>).Keys : undefined;
  const files = JSON.parse(await readFile(join(FOLDER, "files.json"), "utf8")) as PublishedFile[];
  await publishFiles({ s3, bucket }, join(FOLDER, "files"), files, before ?? []);
}

/** The bucket is what the resource is known by: with another bucket CloudFormation has the old one emptied. */
async function answer(
  { ResponseURL, StackId, RequestId, LogicalResourceId }: CloudFormationCustomResourceEvent,
  bucket: string,
  outcome: { Status: "SUCCESS" | "FAILED"; Reason?: string },
): Promise<void> {
  const body = JSON.stringify({ ...outcome, PhysicalResourceId: bucket, StackId, RequestId, LogicalResourceId });
  // the URL is signed without a type
  const response = await fetch(ResponseURL, { method: "PUT", body, headers: { "content-type": "" } });
  if (!response.ok) throw new Error(`CloudFormation answered ${response.status}`);
}

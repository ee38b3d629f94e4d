/** Measures the fetch stage alone: in a process of its own, while SQS, S3 and DynamoDB run in this one. */
import { join } from "node:path";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { S3Client } from "@aws-sdk/client-s3";
import { SQSClient } from "@aws-sdk/client-sqs";
import { TOPOLOGY } from "../../infra/topology.ts";
import { startAws } from "../../local/aws/emulators.ts";
import { createResources } from "../../local/aws/resources.ts";
import { credentialsIn } from "../../local/front/credentials.ts";
import { readJsonLine, startNode } from "../../test/services/processes.ts";

/** @returns CPU of the fetch process in ms a page: robots, fetch, extraction, links, WARC, capture batches */
export async function measureFetchStage(siteUrl: string, pages: number): Promise<number> {
  const aws = await startAws();
  try {
    const client = { region: "us-east-1", credentials: credentialsIn(aws.env) };
    const sqs = new SQSClient({ ...client, endpoint: aws.sqsAndS3 });
    const s3 = new S3Client({ ...client, endpoint: aws.sqsAndS3, forcePathStyle: true });
    const dynamo = new DynamoDBClient({ ...client, endpoint: aws.dynamo });
    await createResources({ sqs, s3, dynamo }, TOPOLOGY, { bucket: "strandline", stateTable: "strandline-state" });
    const worker = startNode(join(import.meta.dirname, "fetch-worker.ts"), [], {
      ...aws.env,
      SITE: siteUrl,
      PAGES: String(pages),
      LOG_LEVEL: "warn",
      ACCESS__ALLOW_HOSTS: new URL(siteUrl).host,
    });
    const { fetch_cpu_ms_per_page } = await readJsonLine<{ fetch_cpu_ms_per_page: number }>(
      worker,
      // its log has metrics before
      "fetch_cpu_ms_per_page",
    );
    return fetch_cpu_ms_per_page;
  } finally {
    await aws.stop();
  }
}
